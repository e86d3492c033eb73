"""Indexes a table: every value cell under the full names of its row and column."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from paperscope_core.types import Cell, Table
from query.extractive.wording import fold, strip_citations

__all__ = ["Header", "IndexedCell", "TableIndex", "index_table"]

# "92.11 (+0.81)", "88.7±0.3", "12.3†", "1,234", "45%", "170K", "3.3 · 10^18"; but neither "4 layers" nor "59/60".
_NUMBER = re.compile(
    r"[<>~≈*]?\s*+(?=[-+.]*\d)(?>[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*+"
    r"(?>%|[KMB](?![a-z])|[a-zA-Z]{1,3}\b)?+\s*+(?![A-Za-z]{2,}|[-/:]\s*\w)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """A name of rows or columns.

    Headers of one level are alternatives ("BERT", "XLNet"); levels qualify each other. Words among the values of a row
    (a backbone, a training set) are headers of the row, too. `meaning` spells out a conventional letter.
    """

    level: str
    text: str
    meaning: str = ""

    @property
    def name(self) -> str:
        """The text without citations."""
        return strip_citations(self.text)


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedCell:
    """A value cell with the headers that qualify it, outermost first.

    `note` is the cell that annotates it, if a table prints "(+0.43)" on a separate line.
    """

    cell: Cell
    row: tuple[Header, ...]
    column: tuple[Header, ...]
    note: Cell | None = None

    @property
    def text(self) -> str:
        """The value as printed, with its note."""
        return fold(f"{self.cell.text} {self.note.text}" if self.note is not None else self.cell.text)

    @property
    def row_name(self) -> str:
        """The row's own headers; a section's title is part of the column's name."""
        return " / ".join(dict.fromkeys(header.name for header in self.row if header.level != "section"))

    @property
    def column_name(self) -> str:
        """The column's headers, after the title of the row's section."""
        sections = [header.name for header in self.row if header.level == "section"]
        return " ".join(dict.fromkeys((*sections, *(header.name for header in self.column))))


@dataclass(frozen=True, kw_only=True, slots=True)
class TableIndex:
    """The value cells of a table in reading order, the headers of both axes without repeats, and the titles of its stub
    columns ("Model")."""

    table: Table
    cells: tuple[IndexedCell, ...]
    headers: tuple[Header, ...]
    stub_titles: tuple[str, ...]


def index_table(table: Table) -> TableIndex:
    """Index the value cells of a table by their headers."""
    reader = _Reader(table)
    for row in range(table.shape[0]):
        reader.take(row)
    cells = tuple(cell for row in reader.rows for cell in row)
    headers = dict.fromkeys(header for cell in cells for header in (*cell.row, *cell.column))
    return TableIndex(
        table=table, cells=cells, headers=tuple(headers), stub_titles=tuple(dict.fromkeys(reader.stub_titles))
    )


class _Reader:
    """Reads rows from top to bottom and keeps the headers, section title and stubs above."""

    def __init__(self, table: Table) -> None:
        self.rows: list[list[IndexedCell]] = []
        self.stub_titles: list[str] = []
        self._columns = table.shape[1]
        self._covering = {
            (row, column): cell
            for cell in table.cells
            for row in range(cell.row, cell.row + cell.row_span)
            for column in range(cell.column, cell.column + cell.column_span)
        }
        self._headers: dict[int, list[Cell]] = {}
        self._in_header = False
        self._section: Cell | None = None
        # Whether the first row of the section begins with a dash; the section then ends where no dash follows.
        self._itemized: bool | None = None
        self._stubs: dict[int, Cell] = {}

    def take(self, row: int) -> None:
        found = (self._covering.get((row, column)) for column in range(self._columns))
        cells = [cell for cell in dict.fromkeys(found) if cell is not None and cell.text]
        stubs, values = _split(cells)
        if not values:
            self._take_titles(row, cells)
        elif self.rows and not stubs and all(cell.text.startswith(("(", "[", "±")) for cell in values):
            self.rows[-1] = [_annotated(cell, values) for cell in self.rows[-1]]
        else:
            self._in_header = False
            self.rows.append(self._indexed(stubs, values))

    def _take_titles(self, row: int, cells: Sequence[Cell]) -> None:
        for cell in cells:
            if cell.row != row:
                continue
            # A title that spans the whole width names the rows below it, regardless of the role that the parser
            # assigns.
            if cell.role == "section" or (len(cells) == 1 and cell.column_span >= self._columns - 1):
                self._section, self._itemized = cell, None
                self._stubs = {}
            elif cell.role == "column_header":
                if not self._in_header:
                    self._headers, self._in_header = {}, True
                for column in range(cell.column, cell.column + cell.column_span):
                    self._headers.setdefault(column, []).append(cell)

    def _indexed(self, stubs: Sequence[Cell], values: Sequence[Cell]) -> list[IndexedCell]:
        names = self._row_headers(stubs)
        numbers = {cell for cell in values if _NUMBER.match(fold(cell.text))}
        notes = [_stub(cell) for cell in values if cell not in numbers and any(map(str.isalpha, cell.text))]
        return [
            IndexedCell(cell=cell, row=(*names, *(notes if cell in numbers else ())), column=self._column_headers(cell))
            for cell in values
        ]

    def _row_headers(self, stubs: Sequence[Cell]) -> list[Header]:
        for cell in stubs:
            # An empty stub repeats the one above it, provided that the stubs to its left do.
            self._stubs = {column: stub for column, stub in self._stubs.items() if column < cell.column}
            self._stubs[cell.column] = cell
            self.stub_titles.extend(header.text for header in self._headers.get(cell.column, ()))
        if self._section and stubs:
            dashed = fold(stubs[0].text).startswith("-")
            if self._itemized is None:
                self._itemized = dashed
            elif self._itemized and not dashed:
                self._section = None
        sections = [Header(level="section", text=self._section.text)] if self._section else []
        return sections + [_stub(cell) for _, cell in sorted(self._stubs.items())]

    def _column_headers(self, cell: Cell) -> tuple[Header, ...]:
        texts = dict.fromkeys(header.text for header in self._headers.get(cell.column, ()) if header.text)
        siblings = {fold(header.text) for headers in self._headers.values() for header in headers}
        return tuple(
            Header(level=f"header {depth}", text=text, meaning=_meaning(fold(text), siblings))
            for depth, text in enumerate(texts)
        )


def _stub(cell: Cell) -> Header:
    return Header(level=f"stub {cell.column}", text=cell.text)


def _meaning(text: str, siblings: Set[str]) -> str:
    """The meaning of P and R in a table with P, R and F columns."""
    if not ({"P", "R"} <= siblings and siblings & {"F", "F1", "F-score"}):
        return ""
    return {"P": "precision", "R": "recall"}.get(text, "")


def _split(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """Stubs and values. If the parser marks no stub, the first column is the stub."""
    stubs = [cell for cell in cells if cell.role == "row_header"]
    values = [cell for cell in cells if cell.role == "value"]
    if not stubs and len(values) > 1 and values[0].column == 0:
        return values[:1], values[1:]
    return stubs, values


def _annotated(cell: IndexedCell, notes: Sequence[Cell]) -> IndexedCell:
    note = next((note for note in notes if note.column == cell.cell.column), None)
    return replace(cell, note=note) if note else cell
