"""What an element says, as text: the one rendering that chunks, extractors and their checks share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from paperscope.types import Cell, Element, Equation, Figure, Passage, Reference, Table

__all__ = ["TableRow", "column_headers", "element_text", "table_outline", "table_rows"]


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


def element_text(element: Element) -> str:
    """The element's words, label and caption first; a table's rows read "ROW | COLUMN: VALUE | ...", a line each."""
    match element:
        case Passage():
            return element.text
        case Table():
            return "\n".join([*_title(element), *_table_lines(element)])
        case Figure():
            return "\n".join([*_title(element), *filter(None, [_clean(element.text)])])
        case Equation():
            return f"{element.label}: {element.text}" if element.label else element.text
        case Reference():
            return element.text if element.label in element.text else f"{element.label} {element.text}"


def table_outline(table: Table) -> str:
    """`element_text` of a table without its numbers: what it is about, for a reader who is to list names."""
    return "\n".join([*_title(table), *_table_lines(table, keeps=_has_word)])


def _has_word(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _title(element: Table | Figure) -> list[str]:
    """Label and caption as one line, the label once."""
    caption = _clean(element.caption)
    if element.label and not caption.casefold().startswith(element.label.casefold()):
        return [f"{element.label}: {caption}" if caption else element.label]
    return [caption] if caption else []


def _table_lines(table: Table, *, keeps: Callable[[str], bool] = bool) -> Iterator[str]:
    """The column headers, and the rows with those of their values that `keeps` lets through."""
    names = [" ".join(headers) for headers in column_headers(table)]
    if any(names):
        yield "Columns: " + " | ".join(name for name in names if name)
    for row in table_rows(table):
        parts = [row.name] if row.name else []
        for column, cell in row.values:
            text = _clean(cell.text)
            if keeps(text):
                parts.append(f"{names[column]}: {text}" if names[column] else text)
        if parts:
            yield " | ".join(parts)


def _clean(text: str) -> str:
    return " ".join(text.split())
