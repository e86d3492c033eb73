"""A table as text, one line per row."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from paperscope_core.types import Cell, Figure, Table

__all__ = ["TableRow", "column_headers", "table_lines", "table_rows", "title_lines"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRow:
    """One body row of a table.

    `headers` are its row headers from left to right; `sections` is the title of the section row it stands under, if
    any; `values` pairs each value cell with its column's number. A row that is itself a section title has no values.
    """

    number: int
    sections: tuple[str, ...]
    headers: tuple[str, ...]
    values: tuple[tuple[int, Cell], ...]

    @property
    def name(self) -> str:
        """The row's name, qualified by its section."""
        return " ".join(dict.fromkeys((*self.sections, *self.headers)))


def table_rows(table: Table) -> Iterator[TableRow]:
    """The rows below the header, spanned cells repeated in each row they cover, empty cells left out.

    A header that is printed again further down is no row. A header cell over the whole width is the title of the first
    section.
    """
    by_row: dict[int, list[Cell]] = {}
    for cell in sorted(table.cells, key=lambda cell: (cell.column, cell.row)):
        for row in range(max(cell.row, table.header_rows), cell.row + cell.row_span):
            if cell.text.strip():
                by_row.setdefault(row, []).append(cell)
    stubbed = any(cell.role == "row_header" for cell in table.cells)
    sections = tuple(_clean(cell.text) for cell in table.cells if _is_banner(cell, table))
    for number in sorted(by_row):
        cells = by_row[number]
        if all(cell.role == "column_header" for cell in cells):
            continue
        if all(cell.role == "section" for cell in cells):
            sections = tuple(_clean(cell.text) for cell in cells)
            yield TableRow(number=number, sections=(), headers=sections, values=())
            continue
        heads = [cell for cell in cells if _is_stub(cell, stubbed=stubbed)]
        yield TableRow(
            number=number,
            sections=sections,
            headers=tuple(_clean(cell.text) for cell in heads),
            values=tuple((cell.column, cell) for cell in cells if cell not in heads),
        )


def column_headers(table: Table) -> list[tuple[str, ...]]:
    """For each column its headers from top to bottom, a group's title before its member's; without repeats.

    A header over the whole width tells nothing about a column, and sections below it have titles of their own.
    """
    columns: list[dict[str, None]] = [{} for _ in range(table.shape[1])]
    for cell in sorted(table.cells, key=lambda cell: cell.row):
        if cell.row < table.header_rows and cell.text.strip() and not _is_banner(cell, table):
            for column in range(cell.column, cell.column + cell.column_span):
                columns[column].setdefault(_clean(cell.text))
    return [tuple(headers) for headers in columns]


def _is_banner(cell: Cell, table: Table) -> bool:
    return cell.row < table.header_rows and 1 < table.shape[1] == cell.column_span and bool(cell.text.strip())


def _is_stub(cell: Cell, *, stubbed: bool) -> bool:
    """A row header; where the parser named none, the first column's words serve."""
    if stubbed or cell.role != "value":
        return cell.role != "value"
    return cell.column == 0 and any(character.isalpha() for character in cell.text)


def title_lines(element: Table | Figure) -> list[str]:
    """Label and caption as one line, the label once; no line where there is neither."""
    caption = _clean(element.caption)
    if element.label and not caption.casefold().startswith(element.label.casefold()):
        return [f"{element.label}: {caption}" if caption else element.label]
    return [caption] if caption else []


def table_lines(
    table: Table,
    *,
    keeps: Callable[[str], bool] = bool,
    rows: Collection[int] | None = None,
    columns: Collection[int] | None = None,
) -> Iterator[str]:
    """The column headers, and the rows with those of their values that `keeps` lets through.

    Of `rows` and `columns` where they are given, by number.
    """
    names = [" ".join(headers) for headers in column_headers(table)]
    shown = [name for column, name in enumerate(names) if name and (columns is None or column in columns)]
    if shown:
        yield "Columns: " + " | ".join(shown)
    for row in table_rows(table):
        if rows is not None and row.number not in rows:
            continue
        parts = [row.name] if row.name else []
        for column, cell in row.values:
            text = _clean(cell.text)
            if keeps(text) and (columns is None or column in columns):
                parts.append(f"{names[column]}: {text}" if names[column] else text)
        if parts:
            yield " | ".join(parts)


def _clean(text: str) -> str:
    return " ".join(text.split())
