"""Indexes a table: every value cell, as a number or words, under the full names of its row and column."""

import math
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from paperscope_core.types import Cell, Table
from query.extractive.wording import fold, strip_citations

__all__ = [
    "CellValue",
    "Header",
    "IndexedCell",
    "TableIndex",
    "index_table",
    "joined_names",
    "number_text",
    "read_value",
]

_NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?"
_VALUE = re.compile(
    rf"^[<>~≈*]?\s*(?P<number>(?=[-+.]*\d){_NUMBER})\s*"
    r"(?P<unit>%|[KMB](?![a-z])|[a-zA-Z]{1,3}\b)?\s*"
    r"(?P<rest>.*)$",
    re.DOTALL,
)
_WORDS = re.compile(r"[A-Za-z]{2,}|[-/:]\s*\w")
_POWER = re.compile(r"\s*+[·×x*]\s*+10\s*+\^?\s*+\{?(?P<power>-?\d+)\}?")
_SCALE = {"K": 1e3, "M": 1e6, "B": 1e9}


@dataclass(frozen=True, kw_only=True, slots=True)
class CellValue:
    """A cell's text and, unless it consists of words or a dash, its number.

    `number` has K, M, B and powers of ten multiplied out; `decimals` is the number of digits printed after the point.
    """

    text: str
    number: float | None = None
    unit: str = ""
    decimals: int = 0

    @property
    def plain(self) -> str:
        """The number as printed, without the annotation that follows it."""
        return self.text.partition("(")[0].strip()


def read_value(text: str) -> CellValue:
    """Read "92.11 (+0.81)", "88.7±0.3", "12.3†", "1,234", "45%", "3.3 · 10^18".

    Words, dashes, and numbers beyond the range of a float have no number.
    """
    folded = fold(text)
    match = _VALUE.match(folded)
    if match is None or _WORDS.match(match["rest"]):
        return CellValue(text=folded)
    number = float(match["number"].replace(",", "")) * _SCALE.get(match["unit"] or "", 1.0)
    power = _POWER.match(match["rest"])
    if power is not None:
        number *= float(f"1e{power['power']}")
    if not math.isfinite(number):
        return CellValue(text=folded)
    decimals = len(match["number"].partition(".")[2])
    return CellValue(text=folded, number=number, unit=match["unit"] or "", decimals=decimals)


def number_text(number: float, decimals: int) -> str:
    """Format a computed number with this many decimals and a true minus sign."""
    text = f"{abs(number):.{decimals}f}"
    return f"−{text}" if number < 0 and float(text) else text


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """A name on one axis of a table.

    Headers of one level are alternatives ("BERT", "XLNet"); levels qualify each other. A `note` is a word among the
    values of a row (a backbone, a training set) that describes the row; `meaning` spells out a conventional letter.
    """

    axis: Literal["row", "column"]
    level: str
    text: str
    note: bool = False
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
    value: CellValue
    row: tuple[Header, ...]
    column: tuple[Header, ...]
    note: Cell | None = None

    @property
    def number(self) -> float:
        """The value as a number; NaN if the cell contains words or a dash."""
        return math.nan if self.value.number is None else self.value.number

    @property
    def headers(self) -> frozenset[Header]:
        """The headers of both axes."""
        return frozenset((*self.row, *self.column))

    @property
    def row_name(self) -> str:
        """The row's own headers; a section's title is part of the column's name."""
        return joined_names(header for header in self.row if header.level != "section")

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


def joined_names(headers: Iterable[Header]) -> str:
    """The names of headers without repeats: "BERT / large"."""
    return " / ".join(dict.fromkeys(header.name for header in headers))


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
        read = [(cell, read_value(cell.text)) for cell in values]
        words = [cell for cell, value in read if value.number is None and any(map(str.isalpha, cell.text))]
        notes = [note for cell in words if (note := replace(_stub(cell), note=True)) not in names]
        return [
            IndexedCell(
                cell=cell,
                value=value,
                row=(*names, *(notes if value.number is not None else ())),
                column=self._column_headers(cell),
            )
            for cell, value in read
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
        sections = [Header(axis="row", level="section", text=self._section.text)] if self._section else []
        return sections + [_stub(cell) for _, cell in sorted(self._stubs.items())]

    def _column_headers(self, cell: Cell) -> tuple[Header, ...]:
        texts = dict.fromkeys(header.text for header in self._headers.get(cell.column, ()) if header.text)
        siblings = {fold(header.text) for headers in self._headers.values() for header in headers}
        return tuple(
            Header(axis="column", level=f"header {depth}", text=text, meaning=_meaning(fold(text), siblings))
            for depth, text in enumerate(texts)
        )


def _stub(cell: Cell) -> Header:
    return Header(axis="row", level=f"stub {cell.column}", text=cell.text)


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
    return replace(cell, value=read_value(f"{cell.cell.text} {note.text}"), note=note) if note else cell
