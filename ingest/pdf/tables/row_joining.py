"""Joins printed rows that form one logical row: annotations, wrapped texts, labels that span rows."""

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import groupby, pairwise

from ingest.document.cell_values import is_annotation, is_value
from ingest.document.geometry import runs_of
from ingest.pdf.tables.row_breaks import LineContext, begins_row, has_room
from ingest.pdf.tables.table_columns import Columns
from ingest.pdf.tables.table_values import GridRow, Piece, TableRegion

__all__ = ["join_rows", "span_labels"]

# Letter sizes.
_HALF_LINE = 0.75  # Header rows closer than this are one row, centred on each other.
_MIN_LONE = 3  # Rules around as many lines, and most of a table's, are around each of its rows.
_INDENT = 0.5  # The least indent of the second line of a label.
_MIDDLE = 0.3  # The height of the middle of letters above their baseline.

_DIFFERENCE = re.compile("[+±↑↓]")


def join_rows(
    rows: Sequence[GridRow], columns: Columns, region: TableRegion, *, bands: Sequence[float] = (), both: bool = False
) -> list[GridRow]:
    """Join the printed lines of each row; a section title stays apart, and so do values below values.

    Args:
        rows: The printed lines.
        columns: The columns.
        region: The table's region.
        bands: The y between rows, if known from elsewhere; otherwise rows end at rules, and where their words say so.
        both: Whether a row also ends where its words say so, if there are bands.
    """
    zones = [list(group) for _, group in groupby(rows, key=lambda row: (region.zone(row.top), row.kind == "body"))]
    bodies = [zone for zone in zones if zone[0].kind == "body"]
    context = LineContext.of(bodies, columns)
    lone = sum(len(zone) == 1 for zone in bodies)
    ruled = lone >= _MIN_LONE and 2 * lone > len(bodies) and all(zone[0].stub for zone in bodies)
    edges = bands or region.inner_rules

    def place(row: GridRow) -> tuple[int, bool]:
        return bisect(edges, row.top - _MIDDLE * columns.em), row.kind == "section"

    def joins(group: list[GridRow], row: GridRow) -> bool:
        last = group[-1]
        if place(last) != place(row) or (row.kind != last.kind and not bands):
            return False
        if not row.kind == last.kind == "body":
            above = reduce(_join, group)
            # Single words that are repeated are below those of their groups.
            single = [piece.text for piece in row.pieces if " " not in piece.text]
            groups = len(set(single)) < len(single) and row.stub is not None and above.stub is None
            return bool(bands and not groups) or _is_wrapped_header(above, row, columns)
        if ruled and row.stub is None:
            return True
        over = {piece.first: piece.text for line in group for piece in line.pieces}
        filled = {column for line in group for piece in line.pieces for column in range(piece.first, piece.last + 1)}
        beside = row.top - last.bottom < _HALF_LINE * columns.em
        if not beside and all(filled.isdisjoint(range(piece.first, piece.last + 1)) for piece in row.pieces):
            return False
        columned = [piece for piece in row.pieces if bands or piece.first in context.values]
        named = {piece.first for piece in columned if is_value(piece.text) and piece.first in over}
        if any(is_value(over[column]) or column in context.values for column in named):
            return False
        return bool(bands and not both) or not begins_row(last, row, context)

    return _with_annotations([reduce(_join, group) for group in runs_of(rows, joins=joins)], banded=bool(bands))


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


def _runs_over(last: GridRow, piece: Piece, columns: Columns) -> bool:
    """Return whether a text continues the one above, which had no room left for its first word."""
    above = last.piece_at(piece.first)
    return above is not None and not is_value(piece.text) and not has_room(above, piece, columns)


def _is_wrapped_header(last: GridRow, row: GridRow, columns: Columns) -> bool:
    """Return whether a header row is half a line below the one above, or continues titles of single columns."""
    over = [[piece for piece in row.pieces if title.first <= piece.first <= title.last] for title in last.pieces]
    if row.top - last.bottom < _HALF_LINE * columns.em and all(len(pieces) < 2 for pieces in over):
        return True
    above = {piece.first for piece in last.pieces if piece.first == piece.last}
    if all(piece.first in above and _runs_over(last, piece, columns) for piece in row.pieces):
        return True
    if _is_stub_only(last) and row.stub and _runs_over(last, row.stub, columns):
        return True
    return row.stub is None and all(piece.first == piece.last and piece.first in above for piece in row.pieces)


def _with_annotations(rows: Sequence[GridRow], *, banded: bool) -> list[GridRow]:
    """Join the rows that hold differences or deviations of the values above; if none has a sign of its own, they are
    standard errors or the like, which are rows."""
    joined: list[GridRow] = []
    signed = any(is_annotation(piece.text) and _DIFFERENCE.search(piece.text) for row in rows for piece in row.pieces)
    for row in rows:
        plain = bool(joined) and row.kind == joined[-1].kind == "body"
        if plain and ((signed and _annotates(joined[-1], row)) or (banded and _ends(joined[-1], row))):
            joined[-1] = _join(joined[-1], row)
        else:
            joined.append(row)
    return joined


def _annotates(last: GridRow, row: GridRow) -> bool:
    filled = {piece.first for piece in last.pieces}
    return all(piece.first > 0 and piece.first in filled and is_annotation(piece.text) for piece in row.pieces)


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
        spanned.extend(_with_labels(_with_whole_labels(block, columns)) if block[0].kind == "body" else block)
    return spanned


def _with_whole_labels(block: Sequence[GridRow], columns: Columns) -> list[GridRow]:
    """Return the rows with each label joined whose second line, which is indented, is in the second of its rows."""
    rows = list(block)
    for index, (first, second, third) in enumerate(zip(rows, rows[1:], rows[2:], strict=False)):
        label, more = first.stub, second.stub
        if not label or not more or third.stub or len(second.pieces) < 2 or not _runs_over(first, more, columns):
            continue
        if more.box.x0 - label.box.x0 > _INDENT * columns.em:
            rows[index] = replace(first, pieces=(more.under(label), *first.pieces[1:]))
            rows[index + 1] = replace(second, pieces=second.pieces[1:])
    return rows


def _with_labels(block: list[GridRow]) -> list[GridRow]:
    """Spread the single labels of the leading columns over the block, otherwise extend each label to the next one.

    A label in the last row is that row's.
    """
    spread = block
    column = 0
    while len(labels := [index for index, row in enumerate(spread) if row.piece_at(column)]) == 1:
        label = spread[labels[0]].piece_at(column)
        if column == labels[0] == 0 and len(spread) > 1 and _is_stub_only(spread[0]):
            return [replace(spread[0], kind="section"), *spread[1:]]
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
