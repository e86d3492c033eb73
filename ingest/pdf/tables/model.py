"""Tables and their grids as values: regions, rows of pieces, cells, and tables of several parts."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ingest.document.geometry import bounding_box
from ingest.document.line_text import join_lines
from ingest.document.pages import HorizontalRule
from ingest.pdf.captions import Caption
from ingest.pdf.lines import Line, line_of
from ingest.pdf.words import Word
from paperscope_core.types import Box

__all__ = [
    "CellRole",
    "FoundTable",
    "Grid",
    "GridCell",
    "GridRow",
    "Piece",
    "RowKind",
    "TablePart",
    "TableRegion",
    "titled_columns",
]

RowKind = Literal["header", "section", "body"]
CellRole = Literal["column_header", "row_header", "section", "value"]

_OUTLINE = 3.0  # Points; rules this near to the top or bottom of a table are its outline.


@dataclass(frozen=True, kw_only=True)
class TableRegion:
    """The contents of a table: words, full-width rules (y), partial rules, vertical rules (x), filled boxes.

    `ruled` is true if the region was found by its rules, false if by aligned words.
    """

    box: Box
    words: tuple[Word, ...]
    rules: tuple[float, ...]
    partial: tuple[HorizontalRule, ...] = ()
    verticals: tuple[float, ...] = ()
    fills: tuple[Box, ...] = ()
    ruled: bool = True

    @cached_property
    def inner_rules(self) -> list[float]:
        """The full-width rules that are not the outline, from top to bottom."""
        return [y for y in sorted(self.rules) if self.box.y0 + _OUTLINE < y < self.box.y1 - _OUTLINE]

    def zone(self, baseline: float) -> int:
        """Returns the strip between the inner rules that contains a baseline, from 0."""
        return bisect_left(self.inner_rules, baseline)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Piece:
    """Printed lines in columns `first` to `last` of a row, spanning `rows` rows."""

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
        """The box around the lines."""
        return bounding_box(line.box for line in self.lines)

    def under(self, other: "Piece") -> "Piece":
        """Returns this piece below another one in the same cell, or beside it if they have the same baseline."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        if abs(other.lines[-1].baseline - self.lines[0].baseline) < 1:
            joined = line_of(other.lines[-1].words + self.lines[0].words)
            return Piece(first=first, last=last, lines=(*other.lines[:-1], joined, *self.lines[1:]))
        return Piece(first=first, last=last, lines=other.lines + self.lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class GridRow:
    """A row: its kind, the baselines of its first and last printed line, its pieces from left to right."""

    kind: RowKind
    top: float
    bottom: float
    pieces: tuple[Piece, ...]

    def piece_at(self, column: int) -> Piece | None:
        """Returns the piece that begins in a column."""
        return next((piece for piece in self.pieces if piece.first == column), None)

    @property
    def stub(self) -> Piece | None:
        """The piece in the first column, which names the row."""
        return self.piece_at(0)


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


def titled_columns(cells: Iterable[GridCell]) -> set[int]:
    """Returns the columns with a title."""
    return {
        column
        for cell in cells
        if cell.role == "column_header"
        for column in range(cell.column, cell.column + cell.column_span)
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """Cells with rows and columns from 0; `header_rows` counts the leading rows above the body.

    `columns` are the intervals (left, right) of its columns, none in a table of formulas.
    """

    cells: tuple[GridCell, ...]
    header_rows: int
    confidence: float
    columns: tuple[tuple[float, float], ...] = ()

    @property
    def rows(self) -> frozenset[int]:
        """The rows that have a cell of their own."""
        return frozenset(cell.row for cell in self.cells)

    @property
    def body_rows(self) -> frozenset[int]:
        """The rows below the header that are not section titles."""
        return frozenset(cell.row for cell in self.cells if cell.row >= self.header_rows and cell.role != "section")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TablePart:
    """The part of a table in one place: a page (its index from 0), a region and its lines.

    Its words are moved by `dx` and `dy` to be read below the previous part, where they begin at `top`.
    """

    page: int
    region: TableRegion
    lines: frozenset[Line]
    dx: float = 0.0
    dy: float = 0.0
    top: float = float("-inf")

    @property
    def box(self) -> Box:
        """The part's box on its page."""
        return self.region.box


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundTable:
    """A table of one or several parts, read as one grid; `captions` includes those of its further parts."""

    captions: tuple[Caption, ...]
    parts: tuple[TablePart, ...]
    grid: Grid

    @property
    def caption(self) -> Caption:
        """The caption that names the table."""
        return self.captions[0]

    @property
    def page(self) -> int:
        """The page of the first part."""
        return self.parts[0].page

    @property
    def box(self) -> Box:
        """The box of the first part."""
        return self.parts[0].box

    @property
    def lines(self) -> frozenset[Line]:
        """The lines of all parts."""
        return frozenset(line for part in self.parts for line in part.lines)

    @property
    def claimed(self) -> frozenset[Line]:
        """The lines of all parts and captions."""
        return self.lines.union(*(caption.lines for caption in self.captions))

    def place(self, cell: GridCell) -> tuple[int, Box]:
        """Returns the page of a cell's first line, and the cell's box there."""
        part = self._part(cell.lines[0])
        x0, y0, x1, y1 = bounding_box(line.box for line in cell.lines if self._part(line) is part)
        return part.page, Box(x0 - part.dx, y0 - part.dy, x1 - part.dx, y1 - part.dy)

    def _part(self, line: Line) -> TablePart:
        return next(part for part in reversed(self.parts) if line.baseline >= part.top)
