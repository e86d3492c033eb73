"""The parts of a grid while it is built: pieces in rows, the zones between rules, the cells they become."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ingest.document.hyphenation import join_lines
from ingest.pdf.lines import Line, bounding_box, line_of
from ingest.pdf.tables.columns import Columns
from ingest.pdf.tables.rows import PrintedRow, is_value
from paperscope_core.types import Box

__all__ = ["CellRole", "GridCell", "GridRow", "Piece", "RowKind", "Zones", "cells_of", "place"]


RowKind = Literal["header", "section", "body"]
CellRole = Literal["column_header", "row_header", "section", "value"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Piece:
    """Printed lines in columns first to last of a row, going down `rows` rows."""

    first: int
    last: int
    lines: tuple[Line, ...]
    rows: int = 1

    @property
    def text(self) -> str:
        """The lines as one text."""
        return join_lines(line.text for line in self.lines)

    @property
    def box(self) -> Box:
        """The box of the lines."""
        return bounding_box(line.box for line in self.lines)

    def under(self, other: "Piece") -> "Piece":
        """This piece below another one in the same cell; on the same baseline, beside it."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        if abs(other.lines[-1].baseline - self.lines[0].baseline) < 1:
            joined = line_of(other.lines[-1].words + self.lines[0].words)
            return Piece(first=first, last=last, lines=(*other.lines[:-1], joined, *self.lines[1:]))
        return Piece(first=first, last=last, lines=other.lines + self.lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class GridRow:
    """A row: its kind, its baselines from first to last printed line, its pieces from left to right."""

    kind: RowKind
    top: float
    bottom: float
    pieces: tuple[Piece, ...]

    def piece_at(self, column: int) -> Piece | None:
        """The piece that begins in a column."""
        return next((piece for piece in self.pieces if piece.first == column), None)

    def values(self) -> float:
        """The share of values among the pieces right of the stub, 0 if there are none."""
        texts = [piece.text for piece in self.pieces if piece.first > 0]
        return sum(is_value(text) for text in texts) / len(texts) if texts else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class GridCell:
    """A cell of the finished grid."""

    row: int
    column: int
    row_span: int
    column_span: int
    lines: tuple[Line, ...]
    role: CellRole

    @property
    def text(self) -> str:
        """The lines as one text."""
        return join_lines(line.text for line in self.lines)

    @property
    def bold(self) -> bool:
        """Whether most letters are bold."""
        letters = sum(len(line.text) for line in self.lines)
        return sum(line.bold * len(line.text) for line in self.lines) > 0.5 * letters


@dataclass(frozen=True, kw_only=True)
class Zones:
    """The strips between full-width rules (y of each, from top to bottom)."""

    top: float
    bottom: float
    rules: tuple[float, ...]

    @cached_property
    def inner(self) -> list[float]:
        """The rules that are not the outline."""
        return [y for y in sorted(self.rules) if self.top + 3 < y < self.bottom - 3]

    @property
    def header_end(self) -> float | None:
        """The first rule below the top one, None if there is none."""
        return self.inner[0] if self.inner else None

    def of(self, baseline: float) -> int:
        """In which zone a baseline lies, from 0."""
        return bisect_left(self.inner, baseline)


def place(row: PrintedRow, columns: Columns) -> tuple[Piece, ...]:
    """Put a row's segments into columns; a run of values that was read as one segment is cut into its columns."""
    pieces: list[Piece] = []
    for segment in row.segments:
        first, last = columns.span(segment.box.x0, segment.box.x1)
        homes = [columns.span(word.x0, word.x1)[0] for word in segment.words]
        if (
            last > first
            and len(set(homes)) > 1
            and all(is_value(word.text) for word, home in zip(segment.words, homes, strict=True) if home > 0)
        ):
            for home in sorted(set(homes)):
                words = [word for word, at in zip(segment.words, homes, strict=True) if at == home]
                _put(pieces, Piece(first=home, last=home, lines=(line_of(words),)))
        else:
            _put(pieces, Piece(first=first, last=last, lines=(segment,)))
    return tuple(pieces)


def _put(pieces: list[Piece], piece: Piece) -> None:
    if pieces and pieces[-1].last >= piece.first:
        pieces[-1] = piece.under(pieces[-1])
    else:
        pieces.append(piece)


def cells_of(rows: Sequence[GridRow], *, first_row: int, width: int) -> list[GridCell]:
    """The cells of rows; the row numbers begin at `first_row`."""
    stubs = _stub_columns(rows, width=width)
    cells: list[GridCell] = []
    for index, row in enumerate(rows):
        for piece in row.pieces:
            cell = GridCell(
                row=first_row + index,
                column=piece.first,
                row_span=piece.rows,
                column_span=piece.last - piece.first + 1,
                lines=piece.lines,
                role=_role(row, piece, stubs=stubs),
            )
            cells.append(replace(cell, column=0, column_span=width) if row.kind == "section" else cell)
    return cells


def _role(row: GridRow, piece: Piece, *, stubs: int) -> CellRole:
    if row.kind == "header":
        return "column_header"
    if row.kind == "section":
        return "section"
    return "row_header" if piece.first < stubs else "value"


def _stub_columns(rows: Sequence[GridRow], *, width: int) -> int:
    """How many leading columns name their row: the first, and the second where the first one groups rows."""
    body = [row for row in rows if row.kind == "body"]
    if width < 2 or not body:
        return 0
    grouping = {piece.first for row in body for piece in row.pieces if piece.rows > 1}
    stubs = 1 + sum(column in grouping for column in range(1, width - 1))
    named = [piece.text for row in body if (piece := row.piece_at(stubs))]
    textual = bool(named) and sum(is_value(text) for text in named) < 0.5 * len(named)
    return stubs + 1 if grouping and textual and width > stubs + 1 else stubs
