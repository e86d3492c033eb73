"""Stubs that name several rows: one label for a block of rows, at its first row or halfway down."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from ingest.pdf.tables.columns import Columns
from ingest.pdf.tables.parts import GridRow, Piece, Zones

__all__ = ["merge_groups"]


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
