"""Joins printed rows that form one logical row: annotations, wrapped texts, labels that span rows."""

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby, pairwise

from ingest.document.cell_values import is_annotation, is_value
from ingest.document.geometry import runs_of
from ingest.pdf.lines import Line
from ingest.pdf.tables.row_breaks import LineContext, begins_row, has_room
from ingest.pdf.tables.table_columns import Columns
from ingest.pdf.tables.table_values import GridRow, Piece, PrintedRow, TableRegion

__all__ = ["centred_rows", "join_rows", "span_labels"]

# Letter sizes unless said otherwise; chosen on the development papers.
_RUNNING = 15  # The least mean number of letters per line of running text; names and values are shorter.
_MAX_STUB_SHARE = 0.8  # If more lines of a zone have a stub, each is a row.
_FAR_STUBS = 1.5  # Stubs further apart than this, in smallest pitches, are in different rows.
_HALF_LINE = 0.75  # Header rows closer than this are one row, centred on each other.
_MIDDLE = 0.3  # The height of the middle of letters above their baseline.
_SPLIT_PITCH = 0.9  # The largest distance between the halves of a stub and its values.

_DIFFERENCES = frozenset("+±↑↓")

# In letter sizes unless said otherwise; chosen on generated tables (`eval parsing --only generated-tables`).
_SAME_MIDDLE = 0.12  # The largest difference between the middles of texts of one row: rounding.
_STEP = 0.12  # Lines that are further apart than the closest ones by more are in different rows.
_LEAST_PITCH = 0.7  # Lines that are closer are halves of one.
_MIN_SHIFTED = 2  # The least number of rows in which texts of different heights are centred on each other.
_WRAPPED = 0.8  # The least share of lines in a text that had no room on the line above.
_SHARED = 0.8  # The least share of rows with several texts.


def join_rows(
    rows: Sequence[GridRow], columns: Columns, region: TableRegion, *, bands: Sequence[float] = (), both: bool = False
) -> list[GridRow]:
    """Join the printed lines of each row; if rules separate all rows, the lines between two rules are one row.

    Args:
        rows: The printed lines.
        columns: The columns.
        region: The table's region.
        bands: The y between rows, if known from elsewhere.
        both: Whether a row also ends where its words say so.
    """
    joined: list[GridRow] = []
    if bands:
        context = LineContext.of([[row for row in rows if row.kind == "body"]], columns)
        for row in _rows_between(rows, bands, context, both=both):
            plain = bool(joined) and row.kind == joined[-1].kind == "body"
            if plain and (_annotates(joined[-1], row) or _ends(joined[-1], row)):
                joined[-1] = _join(joined[-1], row)
            else:
                joined.append(row)
        return joined
    zones = [list(group) for _, group in groupby(rows, key=lambda row: (region.zone(row.top), row.kind == "body"))]
    bodies = [zone for zone in zones if zone[0].kind == "body"]
    context = LineContext.of(bodies, columns)
    found = [_rows_of(zone, context, separated=len(bodies) > 1) for zone in bodies]
    several = [grouped for grouped in found if sum(map(len, grouped)) > 1]
    if 2 * sum(len(grouped) == 1 for grouped in several) > len(several) > 1:
        whole = (_may_be_one_row(zone, context) for zone in bodies)
        found = [[zone] if one else grouped for zone, one, grouped in zip(bodies, whole, found, strict=True)]
    grouped_bodies = iter(found)
    lines = [row for zone in zones for row in (_joined(next(grouped_bodies)) if zone[0].kind == "body" else zone)]
    joined = []
    for row, following in zip(lines, [*lines[1:], None], strict=True):
        if joined and _continues(joined[-1], row, following, columns, region):
            joined[-1] = _join(joined[-1], row)
        else:
            joined.append(row)
    return joined


def _rows_between(
    rows: Sequence[GridRow], bands: Sequence[float], context: LineContext, *, both: bool
) -> list[GridRow]:
    """Join the printed lines between two edges of rows; a section title stays apart, and values below values do."""

    def place(row: GridRow) -> tuple[int, bool]:
        return bisect(bands, row.top - _MIDDLE * context.columns.em), row.kind == "section"

    def joins(group: list[GridRow], row: GridRow) -> bool:
        last = group[-1]
        over = {piece.first: piece.text for piece in last.pieces}
        stacked = any(is_value(over.get(piece.first, "")) and is_value(piece.text) for piece in row.pieces)
        if stacked or place(last) != place(row):
            return False
        return not both or not row.kind == last.kind == "body" or not begins_row(last, row, context)

    return _joined(runs_of(rows, joins=joins))


def _ends(last: GridRow, row: GridRow) -> bool:
    """Return whether a line of few texts, none of them a value, ends texts of a row of many."""
    over = {piece.first: piece for piece in last.pieces}
    return 2 * len(row.pieces) < len(over) and all(
        piece.first in over
        and not is_value(piece.text)
        and not is_value(over[piece.first].text)
        and (piece.text[0].islower() or piece.text[0] in "([")
        for piece in row.pieces
    )


def _join(last: GridRow, row: GridRow) -> GridRow:
    pieces = {piece.first: piece for piece in last.pieces}
    for piece in row.pieces:
        above = pieces.get(piece.first)
        pieces[piece.first] = piece.under(above) if above else piece
    return replace(last, bottom=row.bottom, pieces=tuple(pieces[column] for column in sorted(pieces)))


def _joined(groups: Iterable[Sequence[GridRow]]) -> list[GridRow]:
    return [reduce(_join, group) for group in groups]


def _continues(last: GridRow, row: GridRow, following: GridRow | None, columns: Columns, region: TableRegion) -> bool:
    if region.zone(last.bottom) != region.zone(row.top):
        return False
    if row.kind == last.kind == "header":
        return _is_wrapped_header(last, row, columns)
    if row.kind != "body" or last.kind != "body":
        return False
    return _annotates(last, row) or _is_split_stub(last, row, following)


def _rows_of(zone: Sequence[GridRow], context: LineContext, *, separated: bool) -> list[list[GridRow]]:
    """Return the printed lines of each row between two rules."""
    if (separated or _has_one_stub(zone, context.columns)) and _is_one_row(zone, context):
        return [list(zone)]
    return runs_of(zone, joins=lambda group, row: not begins_row(group[-1], row, context))


def _runs_over(last: GridRow, piece: Piece, columns: Columns) -> bool:
    """Return whether a text continues the one above, which had no room left for its first word."""
    above = last.piece_at(piece.first)
    return above is not None and not is_value(piece.text) and not has_room(above, piece, columns)


def _is_one_row(zone: Sequence[GridRow], context: LineContext) -> bool:
    """Return whether the rows between two rules are one: a text wraps over several of them, and nothing but texts
    does."""
    if len(zone) < 2:
        return False
    texts_at = _texts_by_column(zone)
    long = {column: texts for column, texts in texts_at.items() if len(texts) > 1}
    stubs = texts_at.get(0, [])
    if not any(map(_is_running, long.values())) or len(texts_at) < 2 or context.plain & (long.keys() - {0}):
        return False
    if (len(stubs) > 1 and len(stubs) > _MAX_STUB_SHARE * len(zone)) or _has_distant_stubs(zone):
        return False
    if 0 in context.plain and not _has_one_stub(zone, context.columns):
        return False
    return not any(is_value(text) for texts in long.values() for text in texts)


def _may_be_one_row(zone: Sequence[GridRow], context: LineContext) -> bool:
    """Return whether the stub wraps or is one line, and no other column has two values or two words of single-word
    columns."""
    columns = Counter(
        piece.first
        for row in zone
        for piece in row.pieces
        if piece.first > 0 and (is_value(piece.text) or piece.first in context.plain)
    )
    short = len(zone) == 1 or sum(row.stub is not None for row in zone) <= _MAX_STUB_SHARE * len(zone)
    return short and _has_one_stub(zone, context.columns) and all(count == 1 for count in columns.values())


def _texts_by_column(rows: Iterable[GridRow]) -> dict[int, list[str]]:
    texts: dict[int, list[str]] = {}
    for row in rows:
        for piece in row.pieces:
            texts.setdefault(piece.first, []).append(piece.text)
    return texts


def _is_running(texts: Sequence[str]) -> bool:
    return sum(map(len, texts)) > _RUNNING * len(texts)


def _has_one_stub(zone: Sequence[GridRow], columns: Columns) -> bool:
    """Return whether each line of the stub wraps to the next one."""
    stubs = [(last, stub) for last, row in pairwise(zone) if (stub := row.stub)]
    begins = zone[0].stub is None and len(stubs) > 0
    return all(_runs_over(last, stub, columns) for last, stub in stubs[begins:])


def _has_distant_stubs(zone: Sequence[GridRow]) -> bool:
    """Return whether stubs are further apart than the lines of a text."""
    tops: dict[int, list[float]] = {}
    for row in zone:
        for piece in row.pieces:
            tops.setdefault(piece.first, []).append(row.top)
    pitches = [second - first for column in tops.values() for first, second in pairwise(column)]
    return any(second - first > _FAR_STUBS * min(pitches) for first, second in pairwise(tops.get(0, [])))


def _is_wrapped_header(last: GridRow, row: GridRow, columns: Columns) -> bool:
    """Return whether a header row is half a line below the one above, or continues titles of single columns."""
    over = [[piece for piece in row.pieces if title.first <= piece.first <= title.last] for title in last.pieces]
    if row.top - last.bottom < _HALF_LINE * columns.em and all(len(pieces) < 2 for pieces in over):
        return True
    above = {piece.first for piece in last.pieces if piece.first == piece.last}
    if all(piece.first in above and _runs_over(last, piece, columns) for piece in row.pieces):
        return True
    return row.stub is None and all(piece.first == piece.last and piece.first in above for piece in row.pieces)


def _annotates(last: GridRow, row: GridRow) -> bool:
    """Return whether a row holds differences or deviations of the values above; numbers in brackets, such as standard
    errors, are a row."""
    filled = {piece.first for piece in last.pieces}
    return any(not _DIFFERENCES.isdisjoint(piece.text) for piece in row.pieces) and all(
        piece.first > 0 and piece.first in filled and is_annotation(piece.text) for piece in row.pieces
    )


def _is_split_stub(last: GridRow, row: GridRow, following: GridRow | None) -> bool:
    """Return whether the row is the second half of a stub whose values are halfway between both lines, or these
    values."""
    reach = _SPLIT_PITCH * row.pieces[0].lines[0].size
    close = row.top - last.bottom < reach
    if _is_stub_only(row) and last.top < last.bottom and last.stub and close:
        return True
    if following is None or following.kind != "body" or row.stub is not None:
        return False
    return close and following.top - row.bottom < reach and _is_stub_only(last) and _is_stub_only(following)


def _is_stub_only(row: GridRow) -> bool:
    return len(row.pieces) == 1 and row.pieces[0].first == 0


def span_labels(rows: Sequence[GridRow], columns: Columns, region: TableRegion) -> list[GridRow]:
    """Make a stub that names a block of rows span the rows without one; rules under the stubs separate blocks, too.

    A label is printed in the first row of its block, or halfway down.
    """
    if len(columns) < 3:
        return list(rows)
    partial = [rule.y for rule in region.partial if rule.x0 < columns.intervals[0][1]]
    spanned: list[GridRow] = []
    for _, group in groupby(rows, key=lambda row: (row.kind, region.zone(row.top), sum(y < row.top for y in partial))):
        block = list(group)
        spanned.extend(_with_labels(block) if block[0].kind == "body" else block)
    return spanned


def _with_labels(block: list[GridRow]) -> list[GridRow]:
    """Spread the single labels of the leading columns over the block, otherwise extend each label to the next one.

    A label in the last row is that row's.
    """
    spread = block
    column = 0
    while len(labels := [index for index, row in enumerate(spread) if row.piece_at(column)]) == 1:
        label = spread[labels[0]].piece_at(column)
        # A value whose note is on a line below it names no rows.
        if labels[0] == len(spread) - 1 or (column and label is not None and is_value(label.text)):
            break
        spread = _spread(spread, labels[0], column)
        column += 1
    if column or not labels or len(labels) == len(block):
        return spread
    if labels[0] != 0 or any(_is_stub_only(block[index]) for index in labels):
        groups = _centred_groups(labels, len(block))
        # Below a label in the first row, only a label between two rows labels several rows.
        if labels[0] == 0 and any(_is_between(block, label) != (end > start + 1) for start, label, end in groups):
            return block
        return [row for start, label, end in groups for row in _spread(block[start:end], label - start, 0)] or block
    spans = {start: end - start for start, end in pairwise([*labels, len(block)])}
    return [_with_span(row, spans[index]) if index in spans else row for index, row in enumerate(block)]


def _centred_groups(labels: Sequence[int], rows: int) -> list[tuple[int, int, int]]:
    """Return the start, label and end of each group of rows, if each label is halfway down its group; otherwise
    none."""
    groups: list[tuple[int, int, int]] = []
    start = 0
    for label in labels:
        end = 2 * label - start + 1
        groups.append((start, label, end))
        start = end
    return groups if start == rows and all(first <= label for first, label, _ in groups) else []


def _is_between(block: Sequence[GridRow], label: int) -> bool:
    """Return whether a label is alone, half a line below the row above."""
    row = block[label]
    near = _HALF_LINE * row.pieces[0].lines[0].size
    return label > 0 and _is_stub_only(row) and row.top - block[label - 1].bottom < near


def _spread(block: Sequence[GridRow], at: int, column: int) -> list[GridRow]:
    """Return the block with one label for all rows; a label printed between two rows has no separate row."""
    label = next(piece for piece in block[at].pieces if piece.first == column)
    rows = [replace(row, pieces=tuple(piece for piece in row.pieces if piece is not label)) for row in block]
    rows = [row for row in rows if any(piece.rows == 1 for piece in row.pieces)] or rows[:1]
    kept = [piece for row in block for piece in row.pieces if piece.rows > 1]
    labels = [replace(piece, rows=len(rows)) for piece in (*kept, label)]
    rows = [replace(row, pieces=tuple(piece for piece in row.pieces if piece not in kept)) for row in rows]
    first = replace(rows[0], pieces=(*labels, *rows[0].pieces))
    return [first, *rows[1:]]


def _with_span(row: GridRow, rows: int) -> GridRow:
    pieces = [replace(piece, rows=rows) if piece.first == 0 else piece for piece in row.pieces]
    return replace(row, pieces=tuple(pieces))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Block:
    """Lines of one column that are as close as the lines of a text."""

    column: int
    lines: tuple[Line, ...]

    @property
    def middle(self) -> float:
        """The y halfway between the first baseline and the last."""
        return (self.lines[0].baseline + self.lines[-1].baseline) / 2


def centred_rows(rows: Sequence[PrintedRow], columns: Columns, region: TableRegion, *, headed: bool) -> list[GridRow]:
    """Return the rows of a table whose texts are centred on each other; none if this is not certain.

    It is certain if the texts of the columns, each of lines at the smallest distance, form rows by their middles alone:
    no two texts of a row are in one column, no row begins before the one above ends, and in several rows texts of
    different heights have the same middle. Lines that are joined must wrap; values below each other never do.

    Args:
        rows: The printed rows, without those of a grouped header.
        columns: The columns.
        region: The table's region; its first inner rule is below the header.
        headed: Whether there is a grouped header.
    """
    blocks = _blocks(rows, columns, region)
    if blocks is None:
        return []
    runs = runs_of(
        sorted(blocks, key=lambda block: block.middle),
        joins=lambda run, block: block.middle - run[0].middle < _SAME_MIDDLE * columns.em,
    )
    if not _are_rows(runs) or not _are_texts(blocks, columns):
        return []
    heads = 0 if headed else max(1, sum(_zone(run, region) == 0 for run in runs) if region.inner_rules else 1)
    return [] if heads > 1 else [_row(run, header=index < heads) for index, run in enumerate(runs)]


def _blocks(rows: Sequence[PrintedRow], columns: Columns, region: TableRegion) -> list[_Block] | None:
    """Return the texts of each column, None if a text spans columns."""
    lines: list[list[Line]] = [[] for _ in range(len(columns))]
    for row in rows:
        for segment in row.segments:
            first, last = columns.span(segment.box.x0, segment.box.x1)
            if first != last:
                return None
            lines[first].append(segment)
    pitches = [
        pitch
        for column in lines
        for above, line in pairwise(column)
        if (pitch := line.baseline - above.baseline) > _LEAST_PITCH * columns.em
    ]
    limit = min(pitches, default=0.0) + _STEP * columns.em

    def joins(run: list[Line], line: Line) -> bool:
        same = region.zone(run[-1].baseline) == region.zone(line.baseline)
        return same and line.baseline - run[-1].baseline < limit

    return [
        _Block(column=index, lines=tuple(run))
        for index, column in enumerate(lines)
        for run in runs_of(column, joins=joins)
    ]


def _are_rows(runs: Sequence[Sequence[_Block]]) -> bool:
    """Return whether blocks with the same middles form rows, one below the other, and some of different heights do."""
    if any(len({block.column for block in run}) < len(run) for run in runs):
        return False
    ends = [max(block.lines[-1].baseline for block in run) for run in runs]
    starts = [min(block.lines[0].baseline for block in run) for run in runs]
    if any(start <= end for end, start in zip(ends, starts[1:], strict=False)):
        return False
    shifted = sum(len({len(block.lines) for block in run}) > 1 for run in runs)
    return shifted >= _MIN_SHIFTED and sum(len(run) > 1 for run in runs) >= _SHARED * len(runs)


def _are_texts(blocks: Sequence[_Block], columns: Columns) -> bool:
    """Return whether the lines of the blocks wrap, and no value is below another one."""
    pairs = [(_piece(block, above), _piece(block, line)) for block in blocks for above, line in pairwise(block.lines)]
    if any(is_value(above.text) and is_value(below.text) for above, below in pairs):
        return False
    return sum(not has_room(*pair, columns) for pair in pairs) >= _WRAPPED * len(pairs)


def _piece(block: _Block, line: Line) -> Piece:
    return Piece(first=block.column, last=block.column, lines=(line,))


def _zone(run: Sequence[_Block], region: TableRegion) -> int:
    return region.zone(run[0].lines[0].baseline)


def _row(run: Sequence[_Block], *, header: bool) -> GridRow:
    lines = [line for block in run for line in block.lines]
    return GridRow(
        kind="header" if header else "body",
        top=min(line.baseline for line in lines),
        bottom=max(line.baseline for line in lines),
        pieces=tuple(
            Piece(first=block.column, last=block.column, lines=block.lines)
            for block in sorted(run, key=lambda block: block.column)
        ),
    )
