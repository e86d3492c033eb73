"""A table as a reader sees it: every value under its full row name and column name."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from paperscope_core.types import Cell, Table
from query.extractive.numbers import CellValue, read_value
from query.extractive.words import strip_citations

__all__ = ["Datum", "Part", "TableView", "view"]


Axis = Literal["row", "column"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One name on an axis. Parts of one level are alternatives ("BERT", "XLNet"); levels qualify each other.

    A `note` is a word among the values (a backbone, a training set) that says more of the row.
    """

    axis: Axis
    level: str
    text: str
    note: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Datum:
    """A value cell with the names that qualify it, outermost first.

    `note` is the cell that only annotates it, where a table prints "(+0.43)" on a line of its own.
    """

    cell: Cell
    value: CellValue
    row: tuple[Part, ...]
    column: tuple[Part, ...]
    note: Cell | None = None

    @property
    def number(self) -> float:
        """The value as a number; NaN where the cell holds words or a dash."""
        return math.nan if self.value.number is None else self.value.number

    @property
    def parts(self) -> frozenset[Part]:
        """All names that qualify the value."""
        return frozenset((*self.row, *self.column))


@dataclass(frozen=True, kw_only=True, slots=True)
class TableView:
    """A table's data in reading order, and `corners`, the titles of its stub columns ("Model")."""

    table: Table
    data: tuple[Datum, ...]
    corners: tuple[str, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """All names of both axes, without repeats."""
        return tuple(dict.fromkeys(part for datum in self.data for part in (*datum.row, *datum.column)))


def view(table: Table) -> TableView:
    """Build the logical view; a table without any value cell has no data."""
    reader = _Reader(table)
    for row in range(table.shape[0]):
        reader.take(row)
    data = tuple(datum for row in reader.rows for datum in row)
    return TableView(table=table, data=data, corners=tuple(dict.fromkeys(reader.corners)))


class _Reader:
    """Goes down the rows and remembers which headers, section title and stubs stand above."""

    def __init__(self, table: Table) -> None:
        self.rows: list[list[Datum]] = []
        self.corners: list[str] = []
        self._columns = table.shape[1]
        self._covering = {
            (row, column): cell
            for cell in table.cells
            for row in range(cell.row, cell.row + cell.row_span)
            for column in range(cell.column, cell.column + cell.column_span)
        }
        self._headers: dict[int, list[Cell]] = {}
        self._headers_go_on = False
        self._section: Cell | None = None
        self._stubs: dict[int, Cell] = {}

    def take(self, row: int) -> None:
        found = (self._covering.get((row, column)) for column in range(self._columns))
        cells = [cell for cell in dict.fromkeys(found) if cell is not None and cell.text]
        stubs, values = _parted(cells)
        if not values:
            self._take_titles(row, cells)
        elif self.rows and all(cell.text.startswith(("(", "[", "±")) for cell in values) and not stubs:
            self.rows[-1] = [_annotated(datum, values) for datum in self.rows[-1]]
        else:
            self._headers_go_on = False
            self.rows.append(self._data(stubs, values))

    def _take_titles(self, row: int, cells: Sequence[Cell]) -> None:
        for cell in cells:
            if cell.row != row:
                continue
            # A title over the whole width names the rows below it, whatever the parser called it.
            if cell.role == "section" or (len(cells) == 1 and cell.column_span >= self._columns - 1):
                self._section = cell
                self._stubs = {}
            elif cell.role == "column_header":
                self._take_header(cell)

    def _take_header(self, cell: Cell) -> None:
        if not self._headers_go_on:
            self._headers = {}
            self._headers_go_on = True
        for column in range(cell.column, cell.column + cell.column_span):
            self._headers.setdefault(column, []).append(cell)

    def _data(self, stubs: Sequence[Cell], values: Sequence[Cell]) -> list[Datum]:
        names = self._row_names(stubs)
        readings = [(cell, read_value(cell.text)) for cell in values]
        words = [cell for cell, value in readings if value.number is None and any(map(str.isalpha, cell.text))]
        notes = [replace(self._stub(cell), note=True) for cell in words]
        data = []
        for cell, value in readings:
            others = [part for part in notes if value.number is not None and part not in names]
            data.append(Datum(cell=cell, value=value, row=(*names, *others), column=self._column_names(cell)))
        return data

    def _row_names(self, stubs: Sequence[Cell]) -> list[Part]:
        names = []
        if self._section is not None:
            names.append(Part(axis="row", level="section", text=self._section.text))
        for cell in stubs:
            # A stub that is left empty repeats the one above it, as long as the stubs left of it do.
            self._stubs = {column: stub for column, stub in self._stubs.items() if column < cell.column}
            self._stubs[cell.column] = cell
            self.corners.extend(header.text for header in self._headers.get(cell.column, ()))
        return names + [self._stub(cell) for _, cell in sorted(self._stubs.items())]

    def _stub(self, cell: Cell) -> Part:
        return Part(axis="row", level=f"stub {cell.column}", text=strip_citations(cell.text))

    def _column_names(self, cell: Cell) -> tuple[Part, ...]:
        texts = dict.fromkeys(header.text for header in self._headers.get(cell.column, ()) if header.text)
        return tuple(Part(axis="column", level=f"header {depth}", text=text) for depth, text in enumerate(texts))


def _parted(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """Stubs and values. Where the parser marked no stub, the first column is it."""
    stubs = [cell for cell in cells if cell.role == "row_header"]
    values = [cell for cell in cells if cell.role == "value"]
    if not stubs and len(values) > 1 and values[0].column == 0:
        stubs, values = values[:1], values[1:]
    return stubs, values


def _annotated(datum: Datum, notes: Sequence[Cell]) -> Datum:
    for note in notes:
        if note.column == datum.cell.column:
            return replace(datum, value=read_value(f"{datum.cell.text} {note.text}"), note=note)
    return datum
