"""Tables in MinerU's HTML: their cells, and which of them are headers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lxml import etree
from lxml import html as markup

from ingest.document.cell_values import is_value
from ingest.readers.mineru.blocks import clean_text
from paperscope_core.types import Cell, Place

__all__ = ["HtmlGrid", "read_html_table"]


Role = Literal["column_header", "row_header", "section", "value"]

_MOST_ROWS = 5000
_MOST_COLUMNS = 500
_MOST_SPAN = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class HtmlGrid:
    """The cells of a table; `header_rows` counts the leading rows that are no body."""

    cells: tuple[Cell, ...]
    header_rows: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Raw:
    row: int
    column: int
    text: str
    down: int
    right: int
    head: bool


def read_html_table(html: str, *, place: Place, first_row: int = 0) -> HtmlGrid:
    """The cells of all rows, each at `place`; the first one gets the number `first_row`.

    Where no cell is marked as a header, the rows before the first one of values are.
    """
    raw = _placed(_rows(html))
    if not raw:
        return HtmlGrid(cells=(), header_rows=0)
    width = max(cell.column + cell.right for cell in raw)
    header = _header_rows(raw, width=width)
    cells = tuple(
        Cell(
            row=cell.row + first_row,
            column=cell.column,
            text=cell.text,
            place=place,
            row_span=cell.down,
            column_span=cell.right,
            role=_role(cell, header=header, width=width),
        )
        for cell in raw
    )
    return HtmlGrid(cells=cells, header_rows=header)


def _rows(html: str) -> list[list[tuple[str, int, int, bool]]]:
    """(text, rows, columns, header) of each cell, row by row."""
    try:
        root = markup.fromstring(html, parser=markup.HTMLParser(no_network=True, huge_tree=False))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return []
    rows = []
    for row in list(root.iter("tr"))[:_MOST_ROWS]:
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        parent = row.getparent()
        head = parent is not None and parent.tag == "thead"
        rows.append(
            [
                (_text(cell), _span(cell.get("rowspan")), _span(cell.get("colspan")), head or cell.tag == "th")
                for cell in cells
            ]
        )
    return rows


def _text(cell: markup.HtmlElement) -> str:
    for line in cell.iter("br"):
        line.tail = f" {line.tail or ''}"
    for formula in cell.iter("eq"):
        formula.text = f"${formula.text or ''}$"
    return clean_text("".join(str(part) for part in cell.itertext()))


def _span(value: str | None) -> int:
    return max(1, min(_MOST_SPAN, int(value))) if value and value.isascii() and value.isdigit() else 1


def _placed(rows: Sequence[Sequence[tuple[str, int, int, bool]]]) -> list[_Raw]:
    """Give the cells their columns: a cell stands right of those that reach down from above."""
    taken: set[tuple[int, int]] = set()
    placed: list[_Raw] = []
    for number, row in enumerate(rows):
        column = 0
        for text, rows_down, columns_right, head in row:
            while (number, column) in taken:
                column += 1
            if column >= _MOST_COLUMNS:
                break
            down = min(rows_down, len(rows) - number)
            right = min(columns_right, _MOST_COLUMNS - column)
            taken.update((number + below, column + beside) for below in range(down) for beside in range(right))
            if text:
                placed.append(_Raw(row=number, column=column, text=text, down=down, right=right, head=head))
            column += right
    return placed


def _header_rows(raw: Sequence[_Raw], *, width: int) -> int:
    """How many leading rows are headers: those marked, else those above the first row with values, at least one."""
    rows = max(cell.row + cell.down for cell in raw)
    by_row = [[cell for cell in raw if cell.row == row] for row in range(rows)]
    marked = 0
    while marked < rows and by_row[marked] and all(cell.head for cell in by_row[marked]):
        marked += 1
    if marked:
        return min(marked, rows - 1) if rows > 1 else 0
    for row, cells in enumerate(by_row):
        values = [cell for cell in cells if cell.column > 0 and is_value(cell.text) and not _is_year(cell.text)]
        if values and 2 * len(values) >= len([cell for cell in cells if cell.column > 0]):
            reach = max((cell.row + cell.down for cell in raw if cell.row == 0), default=1)
            sections = row - 1 if row > 1 and _spans_all(by_row[row - 1], width=width) else row
            return max(sections, min(reach, row), 1) if row else 0
    return 1 if rows > 1 else 0


def _spans_all(cells: Sequence[_Raw], *, width: int) -> bool:
    return len(cells) == 1 and cells[0].column == 0 and (cells[0].right == width or cells[0].right == 1)


def _is_year(text: str) -> bool:
    return bool(re.fullmatch(r"(?:19|20)\d\d", text))


def _role(cell: _Raw, *, header: int, width: int) -> Role:
    if cell.row < header:
        return "column_header"
    if cell.column == 0 and cell.right == width > 1:
        return "section"
    if cell.column == 0 and not is_value(cell.text):
        return "row_header"
    return "value"
