"""Converts rows of cells with spans, as markup lists them, to the cells of a table."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ingest.document.cell_values import is_value
from ingest.document.drafts import NO_CAPTION, Caption, draft_table
from paperscope_core.types import Cell, Place, Table
from paperscope_core.types.tables import CellRole

__all__ = ["MarkupCell", "count_leading", "table_of_rows"]

# The largest column span in HTML.
_MAX_COLUMNS = 1000
# A table whose spans cover a larger area is read without its spans.
_MAX_AREA = 500_000
# More leading rows without values are a table of texts, not a header.
_MAX_HEADER_ROWS = 4

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkupCell:
    """A cell of the markup; `is_header` is true if it is marked as one (`th`). A row span of 0 extends to the end."""

    text: str
    place: Place
    row_span: int = 1
    column_span: int = 1
    is_header: bool = False
    bold: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedCell:
    """A cell with its row and column; its spans end at the table's edge and at other cells."""

    row: int
    column: int
    cell: MarkupCell

    @property
    def end(self) -> int:
        """The column after the cell."""
        return self.column + self.cell.column_span

    def with_role(self, role: CellRole) -> Cell:
        """Return the cell of a table."""
        return Cell(
            row=self.row,
            column=self.column,
            text=self.cell.text,
            place=self.cell.place,
            row_span=self.cell.row_span,
            column_span=self.cell.column_span,
            role=role,
            bold=self.cell.bold,
        )


def table_of_rows(
    rows: Sequence[Sequence[MarkupCell]], *places: Place, head: int = 0, caption: Caption = NO_CAPTION
) -> Table:
    """Build a table.

    Args:
        rows: The cells of each row; those without text are dropped.
        places: The table's places.
        head: The number of leading rows in the table's `thead`. Without it, the leading rows of `th` cells are the
            header; without those, the leading rows without a value.
        caption: The table's caption.
    """
    kept = [row for row in rows if row]
    head = sum(bool(row) for row in rows[:head])
    placed = _without_empty_columns(place_cells(kept))
    area = sum(item.cell.row_span * item.cell.column_span for item in placed)
    if area > _MAX_AREA:
        flat = [[replace(cell, row_span=1, column_span=1) for cell in row] for row in kept]
        placed = _without_empty_columns(place_cells(flat))
    width = max((item.end for item in placed), default=0)
    header_rows = min(_header_rows(placed, head=head, width=width), max(len(kept) - 1, 0))
    cells = _with_roles(placed, header_rows=header_rows, width=width)
    return draft_table(cells, *places, header_rows=header_rows, caption=caption)


def place_cells(rows: Sequence[Sequence[MarkupCell]]) -> list[PlacedCell]:
    """Place each cell in the first free column of its row."""
    # The row down to which a cell occupies each column.
    taken: list[int] = []
    placed: list[PlacedCell] = []
    for number, row in enumerate(rows):
        column = 0
        for cell in row:
            while column < len(taken) and taken[column] > number:
                column += 1
            if column >= _MAX_COLUMNS:
                break
            down = len(rows) - number if cell.row_span == 0 else max(1, min(cell.row_span, len(rows) - number))
            end = column + 1
            limit = min(column + max(1, cell.column_span), _MAX_COLUMNS)
            while end < limit and not (end < len(taken) and taken[end] > number):
                end += 1
            taken.extend([0] * (end - len(taken)))
            taken[column:end] = [number + down] * (end - column)
            placed.append(
                PlacedCell(row=number, column=column, cell=replace(cell, row_span=down, column_span=end - column))
            )
            column = end
    return placed


def _without_empty_columns(placed: Sequence[PlacedCell]) -> list[PlacedCell]:
    """Drop the columns in which no cell begins."""
    starts = sorted({item.column for item in placed})
    kept = []
    for item in placed:
        column = bisect_left(starts, item.column)
        cell = replace(item.cell, column_span=bisect_left(starts, item.end) - column)
        kept.append(PlacedCell(row=item.row, column=column, cell=cell))
    return kept


def _header_rows(placed: Sequence[PlacedCell], *, head: int, width: int) -> int:
    if head:
        return head
    rows = rows_of(placed)
    marked = count_leading(rows, lambda row: bool(row) and all(item.cell.is_header for item in row))
    # A header of one cell below others is the title of a section.
    titles = (at for at, row in enumerate(rows[:marked]) if at and len(row) == 1 < width)
    if marked := next(titles, marked):
        return marked
    if width < 2 or any(item.cell.is_header for item in placed):
        return 0
    top = rows[: count_leading(rows, lambda row: not any(is_value(item.cell.text) for item in row))]
    if len(top) == len(rows) or len(top) >= _MAX_HEADER_ROWS:
        return 1
    # Rows without values are one header if the spans of the row above join them.
    spanning = count_leading(top, lambda row: any(item.cell.column_span > 1 or item.cell.row_span > 1 for item in row))
    return min(spanning + 1, len(top))


def count_leading(items: Sequence[Item], predicate: Callable[[Item], bool]) -> int:
    """Return the number of items before the first one that does not match."""
    return next((at for at, item in enumerate(items) if not predicate(item)), len(items))


def rows_of(placed: Sequence[PlacedCell]) -> list[list[PlacedCell]]:
    """Return the cells that begin in each row, of cells in order."""
    rows: list[list[PlacedCell]] = [[] for _ in range(placed[-1].row + 1 if placed else 0)]
    for item in placed:
        rows[item.row].append(item)
    return rows


def _with_roles(placed: Sequence[PlacedCell], *, header_rows: int, width: int) -> tuple[Cell, ...]:
    stubs = _stubs(placed, header_rows=header_rows, width=width)
    cells: list[Cell] = []
    for row in rows_of(placed):
        filled = [item for item in row if item.cell.text]
        section = len(filled) == 1 and filled[0].end - filled[0].column == width > 1
        repeated = bool(filled) and len(filled) > 1 and all(item.cell.is_header for item in filled)
        for item in filled:
            role: CellRole = "value"
            if item.row < header_rows or repeated:
                role = "column_header"
            elif section:
                role = "section"
            elif item.cell.is_header or item.column < stubs:
                role = "row_header"
            cells.append(item.with_role(role))
    return tuple(cells)


def _stubs(placed: Sequence[PlacedCell], *, header_rows: int, width: int) -> int:
    """Return how many leading columns name their rows if no header is marked: the first, and those after a grouping
    one."""
    body = [item for item in placed if item.row >= header_rows and item.cell.text and item.end - item.column < width]
    if width < 2 or not body or any(item.cell.is_header for item in body):
        return 0
    grouping = {item.column for item in body if item.cell.row_span > 1}
    stubs = 1 + sum(column in grouping for column in range(1, width - 1))
    named = [item.cell.text for item in body if item.column == stubs]
    textual = bool(named) and sum(map(is_value, named)) < 0.5 * len(named)
    return stubs + 1 if grouping and textual and width > stubs + 1 else stubs
