"""Indexes a table: every value cell under the full names of its row and column."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from paperscope_core.types import Cell, Table
from paperscope_core.types.tables import column_headers, table_rows
from query.extractive.wording import fold, strip_citations

__all__ = ["IndexedCell", "TableIndex", "index_table"]

# "92.11 (+0.81)", "88.7±0.3", "12.3†", "1,234", "45%", "170K", "3.3 · 10^18"; but neither "4 layers" nor "59/60".
_NUMBER = re.compile(
    r"[<>~≈*]?\s*+(?=[-+.]*\d)(?>[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*+"
    r"(?>%|[KMB](?![a-z])|[a-zA-Z]{1,3}\b)?+\s*+(?![A-Za-z]{2,}|[-/:]\s*\w)"
)
_NOTE = ("(", "[", "±")


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedCell:
    """A value cell with its headers, outermost first.

    Words among the values of a row (a backbone, a training set) are headers of its numbers, too. `note` is the cell
    that annotates the value, if a table prints "(+0.43)" on a separate line.
    """

    cell: Cell
    section: tuple[str, ...]
    row: tuple[str, ...]
    column: tuple[str, ...]
    note: Cell | None = None

    @property
    def text(self) -> str:
        """The value as printed, with its note."""
        return fold(f"{self.cell.text} {self.note.text}" if self.note is not None else self.cell.text)

    @property
    def row_name(self) -> str:
        """The row's own headers; a section's title is part of the column's name."""
        return " / ".join(dict.fromkeys(map(strip_citations, self.row)))

    @property
    def column_name(self) -> str:
        """The column's headers, after the title of the row's section."""
        return " ".join(dict.fromkeys(map(strip_citations, (*self.section, *self.column))))


@dataclass(frozen=True, kw_only=True, slots=True)
class TableIndex:
    """The value cells of a table in reading order.

    Attributes:
        headers: All headers of the cells, with what a conventional letter means, or "".
        stub_titles: The titles of the columns that name the rows ("Model").
    """

    table: Table
    cells: tuple[IndexedCell, ...]
    headers: Mapping[str, str]
    stub_titles: tuple[str, ...]


def index_table(table: Table) -> TableIndex:
    """Index the value cells of a table by their headers, but those below a second header that differs."""
    columns = column_headers(table)
    others = {
        cell.row
        for cell in table.cells
        if cell.role == "column_header" and cell.row >= table.header_rows and cell.text not in columns[cell.column]
    }
    end = min(others, default=table.shape[0])
    rows: list[list[IndexedCell]] = []
    stubs: tuple[Cell, ...] = ()
    # A section whose first row begins with a dash is over where no dash follows.
    itemized, over = None, False
    for row in table_rows(table):
        if row.number >= end:
            break
        values = [cell for _, cell in row.values]
        if not values:
            stubs, itemized, over = (), None, False
        elif rows and row.stubs in ((), stubs) and all(cell.text.startswith(_NOTE) for cell in values):
            notes = {cell.column: cell for cell in values}
            rows[-1] = [replace(one, note=notes.get(one.cell.column)) for one in rows[-1]]
        else:
            if row.stubs:
                stubs = row.stubs
                dashed = fold(row.stubs[0].text).startswith("-")
                itemized = dashed if itemized is None else itemized
                over = over or (itemized and not dashed)
            section = () if over else row.sections
            rows.append(_indexed(values, section=section, stubs=tuple(stub.text for stub in stubs), columns=columns))
    cells = tuple(cell for row in rows for cell in row)
    names = dict.fromkeys(name for cell in cells for name in (*cell.section, *cell.row, *cell.column))
    valued = {one.cell.column for one in cells}
    titles = (title for number, texts in enumerate(columns) if number not in valued for title in texts)
    return TableIndex(table=table, cells=cells, headers=_meanings(names), stub_titles=tuple(dict.fromkeys(titles)))


def _indexed(
    values: Sequence[Cell], *, section: tuple[str, ...], stubs: tuple[str, ...], columns: Sequence[tuple[str, ...]]
) -> list[IndexedCell]:
    numbers = {cell for cell in values if _NUMBER.match(fold(cell.text))}
    words = [cell.text for cell in values if cell not in numbers and any(map(str.isalpha, cell.text))]
    return [
        IndexedCell(
            cell=cell,
            section=section,
            row=(*stubs, *(words if cell in numbers else ())),
            column=columns[cell.column],
        )
        for cell in values
    ]


def _meanings(names: Mapping[str, object]) -> dict[str, str]:
    """Return what the names mean: "precision" and "recall" for P and R in a table with P, R and F columns."""
    folded = set(map(fold, names))
    trio = {"P", "R"} <= folded and not folded.isdisjoint({"F", "F1", "F-score"})
    known = {"P": "precision", "R": "recall"} if trio else {}
    return {name: known.get(fold(name), "") for name in names}
