"""Joins printed rows that are one row to the reader: annotations, wrapped texts, labels of several rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import groupby, pairwise

from ingest.pdf.tables.cells import GridRow, Piece, Zones
from ingest.pdf.tables.columns import Columns
from ingest.pdf.tables.rows import is_annotation, is_value

__all__ = ["join_rows", "merge_groups", "wrapped_groups"]


_RUNNING_COLUMN = 15
_LOWER = 0.6


def wrapped_groups(zone: Sequence[GridRow], runs_over: Callable[[GridRow, Piece], bool]) -> list[list[GridRow]]:
    """The printed lines of each row, [] if the zone isn't such a table.

    A line goes on with the row if each of its texts goes on from the line right above, where there was no room for
    its first word; any other line opens a row and has a stub. Most lines that go on below a stub must show it by a
    small letter, and the texts of a column must be long.
    """
    if len(zone) < 2 or any(row.kind != "body" for row in zone):
        return []
    groups: list[list[GridRow]] = [[zone[0]]]
    for row in zone[1:]:
        last = groups[-1][-1]
        if all(runs_over(last, piece) for piece in row.pieces):
            groups[-1].append(row)
        elif row.piece_at(0):
            groups.append([row])
        else:
            return []
    below_stubs = [row for group in groups for row in group[1:] if row.piece_at(0)]
    plain = sum(any(piece.text[0].islower() for piece in row.pieces) for row in below_stubs)
    if not below_stubs or plain < _LOWER * len(below_stubs) or not _has_running_column(groups):
        return []
    return groups


def _has_running_column(groups: Sequence[Sequence[GridRow]]) -> bool:
    """Whether the texts of some column that go over several lines are long."""
    texts: dict[int, list[str]] = {}
    for group in groups:
        for row in group[1:]:
            for piece in row.pieces:
                texts.setdefault(piece.first, []).append(piece.text)
    return any(sum(map(len, column)) > _RUNNING_COLUMN * len(column) for column in texts.values())


_RUNNING = 15
_LEADING = 0.15


def join_rows(rows: Sequence[GridRow], columns: Columns, zones: Zones) -> list[GridRow]:
    """Join rows that continue the one above; where rules part all rows, those between two rules are one."""
    between_rules = [list(group) for _, group in groupby(rows, key=lambda row: zones.of(row.top))]
    parted = sum(any(row.kind == "body" for row in zone) for zone in between_rules) > 1
    ruled = [row for zone in between_rules for row in _rows_of(zone, columns, parted=parted)]
    joined: list[GridRow] = []
    for index, row in enumerate(ruled):
        last = joined[-1] if joined else None
        following = ruled[index + 1] if index + 1 < len(ruled) else None
        if last and _continues(last, row, following, columns, zones):
            joined[-1] = _join(last, row)
        else:
            joined.append(row)
    return joined


def _continues(last: GridRow, row: GridRow, following: GridRow | None, columns: Columns, zones: Zones) -> bool:
    if zones.of(last.bottom) != zones.of(row.top):
        return False
    if row.kind == last.kind == "header":
        return _is_wrapped_header(last, row, columns)
    if row.kind != "body" or last.kind != "body":
        return False
    return _annotates(last, row) or _is_wrap(last, row, columns) or _is_split_stub(last, row, following)


def _rows_of(zone: list[GridRow], columns: Columns, *, parted: bool) -> list[GridRow]:
    whole = _one_row(zone, columns, parted=parted) if parted else zone
    if len(whole) == 1:
        return whole
    joined = _one_row(_by_leading(zone, columns), columns, parted=parted)
    groups = wrapped_groups(zone, partial(_runs_over, columns=columns)) if joined == zone else []
    return [reduce(_join, group) for group in groups] or joined


def _by_leading(zone: list[GridRow], columns: Columns) -> list[GridRow]:
    """Join the printed lines of wrapped cells where rows are set further apart than the lines within them."""
    pairs = [(last, row) for last, row in pairwise(zone) if last.kind == row.kind == "body"]
    pitches = sorted(row.top - last.bottom for last, row in pairs)
    step, within = max(((high - low, low) for low, high in pairwise(pitches)), default=(0.0, 0.0))
    if step < _LEADING * columns.em:
        return zone
    inner = [(last, row) for last, row in pairs if row.top - last.bottom <= within]
    starts = [row for last, row in pairs if row.top - last.bottom > within]
    if not all(row.piece_at(0) for row in starts) or not all(_is_inner(*pair, columns) for pair in inner):
        return zone
    joined: list[GridRow] = []
    for row in zone:
        if any(row is line for _, line in inner):
            joined[-1] = _join(joined[-1], row)
        else:
            joined.append(row)
    return joined


def _is_inner(last: GridRow, row: GridRow, columns: Columns) -> bool:
    """Whether a row without a stub goes on with a running text, and has no value below a value."""
    above = {piece.first: piece.text for piece in last.pieces}
    valued = any(is_value(piece.text) and is_value(above.get(piece.first, "")) for piece in row.pieces)
    return (
        not valued
        and row.piece_at(0) is None
        and any(
            len(above.get(piece.first, "")) > _RUNNING and _runs_over(last, piece, columns=columns)
            for piece in row.pieces
        )
    )


def _runs_over(last: GridRow, piece: Piece, *, columns: Columns) -> bool:
    above = last.piece_at(piece.first)
    return above is not None and not is_value(piece.text) and _had_no_room(above, piece, columns)


def _one_row(zone: list[GridRow], columns: Columns, *, parted: bool) -> list[GridRow]:
    """The rows between two rules as one row, if that is what they are: a text runs over several of them, and nothing
    but texts does. Without rules that part rows (`parted`), the lines of the stub must run over too."""
    if len(zone) < 2 or any(row.kind != "body" for row in zone):
        return zone
    texts_at: dict[int, list[str]] = {}
    for row in zone:
        for piece in row.pieces:
            texts_at.setdefault(piece.first, []).append(piece.text)
    long = [texts for column, texts in texts_at.items() if len(texts) > 1]
    running = [texts for texts in long if sum(map(len, texts)) > _RUNNING * len(texts)]
    stubs = texts_at.get(0, [])
    if not running or len(texts_at) < 2 or (len(stubs) > 1 and 0.8 * len(zone) < len(stubs)):
        return zone
    if _has_apart_stubs(zone) or (not parted and all(len(row.pieces) == len(texts_at) for row in zone)):
        return zone
    if not parted and not _stubs_run_over(zone, columns):
        return zone
    if any(is_value(text) for texts in long for text in texts):
        return zone
    whole = zone[0]
    for row in zone[1:]:
        whole = _join(whole, row)
    return [whole]


def _stubs_run_over(zone: Sequence[GridRow], columns: Columns) -> bool:
    """Whether all lines of the stub continue the one above."""
    named = [(last, stub) for last, row in pairwise(zone) if (stub := row.piece_at(0))]
    if sum(row.piece_at(0) is not None for row in zone) > 1 and any(
        not _runs_over(last, stub, columns=columns) for last, stub in named
    ):
        return False
    return not any(_begins_anew(row) for row in zone[1:] if row.piece_at(0))


def _begins_anew(row: GridRow) -> bool:
    """Whether no cell of a row goes on in the middle of a sentence."""
    return len(row.pieces) > 1 and all(not piece.text[0].islower() for piece in row.pieces)


def _has_apart_stubs(zone: Sequence[GridRow]) -> bool:
    """Whether stubs stand further apart than the lines of a text do."""
    tops: dict[int, list[float]] = {}
    for row in zone:
        for piece in row.pieces:
            tops.setdefault(piece.first, []).append(row.top)
    pitches = [second - first for column in tops.values() for first, second in pairwise(column)]
    return any(second - first > 1.5 * min(pitches) for first, second in pairwise(tops.get(0, [])))


def _is_wrapped_header(last: GridRow, row: GridRow, columns: Columns) -> bool:
    """Whether a header row stands half a line below, or goes on with titles of single columns."""
    over = [[piece for piece in row.pieces if title.first <= piece.first <= title.last] for title in last.pieces]
    if row.top - last.bottom < 0.75 * columns.em and all(len(pieces) < 2 for pieces in over):
        return True
    above = {piece.first: piece for piece in last.pieces if piece.first == piece.last}
    if all(piece.first in above and _runs_over(last, piece, columns=columns) for piece in row.pieces):
        return True
    return row.piece_at(0) is None and all(piece.first == piece.last and piece.first in above for piece in row.pieces)


def _annotates(last: GridRow, row: GridRow) -> bool:
    filled = {piece.first for piece in last.pieces}
    return all(piece.first > 0 and piece.first in filled and is_annotation(piece.text) for piece in row.pieces)


def _is_wrap(last: GridRow, row: GridRow, columns: Columns) -> bool:
    """Whether every text of the row goes on from a text above that had no room left for its first word."""
    if len(row.pieces) > len(last.pieces) or (row.piece_at(0) and len(row.pieces) > 1 and last.piece_at(0) is None):
        return False
    if not all(_runs_over(last, piece, columns=columns) for piece in row.pieces):
        return False
    if row.piece_at(0) is None:
        return True
    lead = row.pieces[0].text
    return (lead[0].islower() or lead[0] in "(&+[") and len(row.pieces) < max(2, len(last.pieces))


def _had_no_room(above: Piece, piece: Piece, columns: Columns) -> bool:
    right = columns.intervals[above.last][1]
    word = piece.lines[0].words[0]
    used = above.lines[-1].width + 0.25 * columns.em + (word.x1 - word.x0)
    return used > right - columns.intervals[above.first][0] - 0.5 * columns.em


def _is_split_stub(last: GridRow, row: GridRow, following: GridRow | None) -> bool:
    """Whether the row is the second half of a stub whose values stand halfway between both lines, or such values."""
    only_stub = len(row.pieces) == 1 and row.pieces[0].first == 0
    if (
        only_stub
        and last.top < last.bottom
        and last.piece_at(0)
        and row.top - last.bottom < 0.9 * row.pieces[0].lines[0].size
    ):
        return True
    if following is None or following.kind != "body" or row.piece_at(0) is not None:
        return False
    halves = (last, following)
    pitch = row.pieces[0].lines[0].size
    return all(len(half.pieces) == 1 and half.pieces[0].first == 0 for half in halves) and (
        row.top - last.bottom < 0.9 * pitch and following.top - row.bottom < 0.9 * pitch
    )


def _join(last: GridRow, row: GridRow) -> GridRow:
    pieces = {piece.first: piece for piece in last.pieces}
    for piece in row.pieces:
        above = pieces.get(piece.first)
        pieces[piece.first] = piece.under(above) if above else piece
    return replace(last, bottom=row.bottom, pieces=tuple(pieces[column] for column in sorted(pieces)))


def merge_groups(rows: Sequence[GridRow], columns: Columns, zones: Zones, *, partial: Sequence[float]) -> list[GridRow]:
    """Let a label reach over the rows without one in its block; `partial` are rules (y) that also part blocks."""
    if len(columns) < 3:
        return list(rows)
    merged: list[GridRow] = []
    for _, group in groupby(rows, key=lambda row: (row.kind, zones.of(row.top), sum(y < row.top for y in partial))):
        block = list(group)
        merged.extend(_merge(block) if block[0].kind == "body" else block)
    return merged


def _merge(block: list[GridRow]) -> list[GridRow]:
    """Spread the single labels of the leading columns over the block, else let each label reach to the next one."""
    spread = block
    column = 0
    while len(labels := [index for index, row in enumerate(spread) if row.piece_at(column)]) == 1 and len(spread) > 1:
        spread = _spread(spread, labels[0], column)
        column += 1
    if column or not labels or len(labels) == len(block):
        return spread
    if labels[0] != 0:
        groups = _centred(labels, len(block))
        return [row for start, label, end in groups for row in _spread(block[start:end], label - start, 0)] or block
    if any(len(block[index].pieces) == 1 for index in labels):
        return block
    spans = {start: end - start for start, end in pairwise([*labels, len(block)])}
    return [_with_span(row, spans[index]) if index in spans else row for index, row in enumerate(block)]


def _centred(labels: Sequence[int], rows: int) -> list[tuple[int, int, int]]:
    """Start, label and end of each group of rows, if all labels stand halfway down their groups; else none."""
    groups: list[tuple[int, int, int]] = []
    start = 0
    for label in labels:
        end = 2 * label - start + 1
        groups.append((start, label, end))
        start = end
    fits = start == rows and all(first <= label for first, label, _ in groups)
    return groups if fits else []


def _spread(block: Sequence[GridRow], at: int, column: int) -> list[GridRow]:
    """One label for a whole block; a label printed between two rows takes no row of its own."""
    label = next(piece for piece in block[at].pieces if piece.first == column)
    rows = [_without(row, label) for row in block]
    rows = [row for row in rows if any(piece.rows == 1 for piece in row.pieces)] or rows[:1]
    kept = [piece for row in block for piece in row.pieces if piece.rows > 1]
    labels = [replace(piece, rows=len(rows)) for piece in (*kept, label)]
    rows = [replace(row, pieces=tuple(piece for piece in row.pieces if piece not in kept)) for row in rows]
    first = replace(rows[0], pieces=(*labels, *rows[0].pieces))
    return [first, *rows[1:]]


def _without(row: GridRow, label: Piece) -> GridRow:
    return replace(row, pieces=tuple(piece for piece in row.pieces if piece is not label))


def _with_span(row: GridRow, rows: int) -> GridRow:
    pieces = [replace(piece, rows=rows) if piece.first == 0 else piece for piece in row.pieces]
    return replace(row, pieces=tuple(pieces))
