"""Tables in MinerU's HTML: their cells, and which of them are headers."""

import re
from collections.abc import Sequence

from lxml import etree
from lxml import html as markup

from ingest.document.cell_values import is_value
from ingest.readers.mineru.blocks import clean_text
from ingest.readers.table_grid import CellRole, MarkupCell, PlacedCell, count_leading, place_cells, rows_of
from paperscope_core.types import Cell, Place

__all__ = ["read_html_table"]

# Limits tables that a model generated endlessly.
_MAX_ROWS = 5000
_MAX_SPAN = 500
_YEAR = re.compile(r"(?:19|20)\d\d")


def read_html_table(html: str, *, place: Place, first_row: int = 0) -> tuple[tuple[Cell, ...], int]:
    """Reads a table.

    Args:
        html: The table.
        place: The place of all cells.
        first_row: The number of the first row.

    Returns:
        The cells, and the number of header rows; without marked headers, the rows before the first row of values.
    """
    placed = [item for item in place_cells(_rows(html, place)) if item.cell.text]
    if not placed:
        return (), 0
    width = max(item.end for item in placed)
    header_rows = _header_rows(placed, width=width)
    cells = tuple(
        item.with_role(_role(item, header_rows=header_rows, width=width), first_row=first_row) for item in placed
    )
    return cells, header_rows


def _rows(html: str, place: Place) -> list[list[MarkupCell]]:
    try:
        root = markup.fromstring(html, parser=markup.HTMLParser(no_network=True, huge_tree=False))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return []
    head = {row for part in root.iter("thead") for row in part}
    return [
        [
            MarkupCell(
                text=_text(cell),
                place=place,
                row_span=_span(cell.get("rowspan")),
                column_span=_span(cell.get("colspan")),
                is_header=cell.tag == "th" or row in head,
            )
            for cell in row
            if cell.tag in ("td", "th")
        ]
        for row in list(root.iter("tr"))[:_MAX_ROWS]
    ]


def _text(cell: markup.HtmlElement) -> str:
    for line in cell.iter("br"):
        line.tail = f" {line.tail or ''}"
    for formula in cell.iter("eq"):
        formula.text = f"${formula.text or ''}$"
    return clean_text("".join(str(part) for part in cell.itertext()))


def _span(value: str | None) -> int:
    return max(1, min(_MAX_SPAN, int(value))) if value and value.isascii() and value.isdigit() else 1


def _header_rows(placed: Sequence[PlacedCell], *, width: int) -> int:
    """How many leading rows are headers: those marked, else those above the first row of values, at least one."""
    rows = rows_of(placed)
    if len(rows) == 1:
        return 0
    marked = count_leading(rows, lambda row: bool(row) and all(item.cell.is_header for item in row))
    if marked:
        return min(marked, len(rows) - 1)
    for number, row in enumerate(rows):
        body = [item.cell.text for item in row if item.column > 0]
        values = [text for text in body if is_value(text) and not _YEAR.fullmatch(text)]
        if values and 2 * len(values) >= len(body):
            # The rows spanned by the first one belong to the header; a section title above the values doesn't.
            spanned = max((item.row + item.cell.row_span for item in rows[0]), default=1)
            above = number - 1 if number > 1 and _is_section(rows[number - 1], width=width) else number
            return max(above, min(spanned, number), 1) if number else 0
    return 1


def _is_section(row: Sequence[PlacedCell], *, width: int) -> bool:
    return len(row) == 1 and row[0].column == 0 and row[0].cell.column_span in (1, width)


def _role(item: PlacedCell, *, header_rows: int, width: int) -> CellRole:
    if item.row < header_rows:
        return "column_header"
    if item.column == 0 and item.end == width > 1:
        return "section"
    if item.column == 0 and not is_value(item.cell.text):
        return "row_header"
    return "value"
