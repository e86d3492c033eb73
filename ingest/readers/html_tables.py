"""HTML tables (also those of JATS and LaTeXML) to cells."""

import re
from collections.abc import Iterator

from ingest.readers.inline_text import inline_text, is_bold
from ingest.readers.markup_tree import Node
from ingest.readers.reading import SourceLines
from ingest.readers.table_grid import MarkupCell, table_cells
from paperscope_core.types import Place, Table

__all__ = ["html_table", "is_layout", "is_table"]


_ROLES = {
    "ltx_tabular": "table",
    "ltx_thead": "thead",
    "ltx_tbody": "tbody",
    "ltx_tfoot": "tfoot",
    "ltx_tr": "tr",
    "ltx_th": "th",
    "ltx_td": "td",
}
_SPAN = re.compile(r"ltx_(col|row)span_(\d{1,4})")
_NUMBER = re.compile(r"\s*(\d{1,7})")
_WHOLE = frozenset("h1 h2 h3 h4 h5 h6 figure form article section pre nav".split())


def is_table(node: Node) -> bool:
    """Whether an element is a table of its own."""
    return _role(node) == "table"


def is_layout(table: Node) -> bool:
    """Whether a table only arranges the page: it holds other tables, headings or figures, or says so."""
    if table.get("role") in ("presentation", "none"):
        return True
    return any(node.tag in _WHOLE or (node.tag == "table" and not node.classes) for node in table.iter())


def html_table(
    table: Node, *, lines: SourceLines, label: str = "", caption: str = "", caption_place: Place | None = None
) -> Table | None:
    """The table, None if it holds no text."""
    heads = 0
    rows: list[list[MarkupCell]] = []
    for row, in_head in _rows(table, in_head=False):
        cells = [_cell(node, lines=lines) for node in row.nodes if _role(node) in ("td", "th")]
        heads += in_head and len(rows) == heads
        rows.append(cells)
    cells_placed, header_rows = table_cells(rows, head=heads)
    if not cells_placed:
        return None
    return Table(
        id="",
        place=lines.of(table),
        order=0,
        cells=cells_placed,
        label=label,
        caption=caption,
        caption_place=caption_place,
        header_rows=header_rows,
    )


def _role(node: Node) -> str:
    """What an element is to a table, by its tag or LaTeXML's class."""
    if node.tag in ("table", "thead", "tbody", "tfoot", "tr", "td", "th"):
        return node.tag
    return next((role for name, role in _ROLES.items() if name in node.classes), "")


def _rows(node: Node, *, in_head: bool) -> Iterator[tuple[Node, bool]]:
    """The rows of a table, without those of tables in its cells, and whether each stands in its head."""
    for child in node.nodes:
        role = _role(child)
        if role == "tr":
            yield child, in_head
        elif role not in ("table", "td", "th"):
            yield from _rows(child, in_head=in_head or role == "thead")


def _cell(node: Node, *, lines: SourceLines) -> MarkupCell:
    spans = {"col": _number(node.get("colspan")), "row": _number(node.get("rowspan"))}
    spans.update({match[1]: int(match[2]) for match in map(_SPAN.fullmatch, node.classes) if match})
    heads = _role(node) == "th" or "ltx_th" in node.classes or node.get("role") in ("columnheader", "rowheader")
    return MarkupCell(
        text=inline_text(node.children),
        place=lines.of(node),
        row_span=spans["row"],
        column_span=max(1, spans["col"]),
        heads=heads,
        bold=is_bold(node.children),
    )


def _number(text: str) -> int:
    match = _NUMBER.match(text)
    return int(match[1]) if match else 1
