"""Tables and their grids as values: regions, rows of pieces, cells, and tables of several parts."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Literal

from ingest.document.cell_values import is_value
from ingest.document.geometry import bounding_box, runs_of
from ingest.document.line_text import join_lines
from ingest.document.pages import HorizontalRule
from ingest.pdf.captions import Caption
from ingest.pdf.lines import Line, line_of
from ingest.pdf.pdf_words import Word, split_row
from paperscope_core.types import Box
from paperscope_core.types.tables import CellRole

__all__ = [
    "CellRole",
    "FoundTable",
    "Grid",
    "GridCell",
    "GridRow",
    "Piece",
    "PrintedRow",
    "RowKind",
    "TablePart",
    "TableRegion",
    "em_of",
    "printed_rows",
    "titled_columns",
    "with_currency",
]

RowKind = Literal["header", "section", "body"]

_OUTLINE = 3.0  # Points; rules this near to the top or bottom of a table are its outline.

# In letter sizes of the table; chosen on the development papers.
_SEGMENT_GAP = 0.36  # A wider gap ends a segment; word spaces are 0.2 to 0.33.
_FULL_SIZE = 0.8  # Smaller words are scripts and marks.
_ROW_SHIFT = 0.25  # The largest difference in baseline between words of one row.
_SCRIPT_SHIFT = 0.3  # The largest distance of a small word from the baseline of its row.
_TOUCHING_SHIFT = 0.62  # The same for a small word that touches a word of the row.
_AFTER, _BEFORE = 0.3, 0.1  # A small word within these distances after or before a word touches it.
_OVERLAP = (
    0.35  # The largest overlap of a small word and the word that it touches: a script is printed over a slanted letter.
)
_BULLET_GAP = 1.5  # The largest distance from a bullet to its item.
_CURRENCY_GAP = 12.0  # A sign may be printed at the left edge of its column.
_CURRENCIES = frozenset("$€£¥")
_BULLET = re.compile(r"[-–—•·*+▷▸]")


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
        """Return the strip between the inner rules that contains a baseline, from 0."""
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
        """Return this piece below another one in the same cell, or beside it if they have the same baseline."""
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
        """Return the piece that begins in a column."""
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
    """Return the columns with a title."""
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
    """A table of one or several parts, read as one grid; `captions` includes the captions of its further parts."""

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
        """Return the page of a cell's first line, and the cell's box there."""
        part = self._part(cell.lines[0])
        x0, y0, x1, y1 = bounding_box(line.box for line in cell.lines if self._part(line) is part)
        return part.page, Box(x0 - part.dx, y0 - part.dy, x1 - part.dx, y1 - part.dy)

    def _part(self, line: Line) -> TablePart:
        return next(part for part in reversed(self.parts) if line.baseline >= part.top)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PrintedRow:
    """The segments on one baseline from left to right; a segment is text without a wide gap."""

    baseline: float
    segments: tuple[Line, ...]

    @property
    def box(self) -> Box:
        """The box around all segments."""
        return bounding_box(segment.box for segment in self.segments)

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of all segments."""
        return tuple(word for segment in self.segments for word in segment.words)

    @property
    def text(self) -> str:
        """The texts of the segments, side by side."""
        return " ".join(segment.text for segment in self.segments)


def em_of(words: Sequence[Word]) -> float:
    """Return the usual letter size of the words."""
    return median(word.size for word in words for _ in word.text)


def with_currency(words: Sequence[Word]) -> list[Word]:
    """Return the words, each separate currency sign joined with the amount to its right at any distance."""
    signs = {word for word in words if word.text in _CURRENCIES}
    amounts = {sign: amount for sign in signs if (amount := _amount(sign, words))}
    sign_of = {amount: sign for sign, amount in amounts.items()}
    return [
        replace(word, text=f"{sign_of[word].text} {word.text}", x0=sign_of[word].x0) if word in sign_of else word
        for word in words
        if word not in amounts
    ]


def _amount(sign: Word, words: Sequence[Word]) -> Word | None:
    """Return the next word on the baseline of a sign, if it is a value."""
    beside = [word for word in words if word.x0 > sign.x0 and abs(word.baseline - sign.baseline) < 1]
    word = min(beside, key=lambda word: word.x0, default=None)
    return word if word and word.x0 - sign.x1 < _CURRENCY_GAP * sign.size and is_value(word.text) else None


def printed_rows(words: Sequence[Word], *, em: float, verticals: Sequence[float] = ()) -> list[PrintedRow]:
    """Return the rows from top to bottom; `verticals` are the x of vertical rules, which split segments, too."""
    ordered = sorted(words, key=lambda word: word.baseline)
    rows = runs_of(
        (word for word in ordered if word.size > _FULL_SIZE * em),
        joins=lambda row, word: word.baseline - row[0].baseline < _ROW_SHIFT * em,
    )
    for word in ordered:
        if word.size <= _FULL_SIZE * em:
            host = _host(word, rows, em=em)
            if host is None:
                rows.append([word])
            else:
                host.append(word)
    placed = sorted((_baseline(row, em=em), order) for order, row in enumerate(rows))
    return [
        PrintedRow(baseline=baseline, segments=tuple(_segments(rows[order], em=em, verticals=verticals)))
        for baseline, order in placed
    ]


def _baseline(row: Sequence[Word], *, em: float) -> float:
    return median(word.baseline for word in ([word for word in row if word.size > _FULL_SIZE * em] or row))


def _host(word: Word, rows: Sequence[list[Word]], *, em: float) -> list[Word] | None:
    """Return the row of a small word: a script or mark may be off its baseline, especially if it touches a word."""
    near: list[tuple[float, int]] = []
    for order, row in enumerate(rows):
        shift = abs(word.baseline - _baseline(row, em=em))
        touches = any(
            -_OVERLAP * em < word.x0 - other.x1 < _AFTER * em or -1 < other.x0 - word.x1 < _BEFORE * em for other in row
        )
        if shift < (_TOUCHING_SHIFT if touches else _SCRIPT_SHIFT) * em:
            near.append((shift - (em if touches else 0.0), order))
    return rows[min(near)[1]] if near else None


def _segments(row: Sequence[Word], *, em: float, verticals: Sequence[float]) -> list[Line]:
    def joins(right: float, word: Word) -> bool:
        return word.x0 - right <= _SEGMENT_GAP * em and not any(right - 1 < x < word.x0 + 1 for x in verticals)

    runs = split_row(row, joins=joins)
    if len(runs) > 1 and _BULLET.fullmatch(runs[0][0].text) and runs[1][0].x0 - runs[0][0].x1 < _BULLET_GAP * em:
        item = " ".join(word.text for word in runs[1])
        runs[:2] = runs[:2] if is_value(item) else [runs[0] + runs[1]]
    return [line_of(run, size=em) for run in runs]
