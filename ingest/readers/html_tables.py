"""HTML tables (also those of JATS and LaTeXML) to cells."""

import re
from collections.abc import Iterable, Iterator

from ingest.document.drafts import NO_CAPTION, Caption
from ingest.readers.inline_text import inline_text, is_bold
from ingest.readers.markup_tree import Node
from ingest.readers.reading import SourceLines
from ingest.readers.table_grid import MarkupCell, table_of_rows
from paperscope_core.types import Table

__all__ = ["html_tables", "is_layout", "is_table"]

_TAGS = frozenset("table thead tbody tfoot tr td th".split())
# LaTeXML also makes tables of spans with these classes.
_CLASSES = {f"ltx_{tag}": tag for tag in ("thead", "tbody", "tfoot", "tr", "th", "td")} | {"ltx_tabular": "table"}
_SPAN = re.compile(r"ltx_(col|row)span_(\d{1,4})")
_BLOCKS = frozenset("h1 h2 h3 h4 h5 h6 figure form article section pre nav".split())


def is_table(node: Node) -> bool:
    """Whether an element is a table."""
    return _tag(node) == "table"


def is_layout(table: Node) -> bool:
    """Whether a table only lays out the page: it says so, or holds other tables, headings or figures."""
    if table.get("role") in ("presentation", "none"):
        return True
    return any(node.tag in _BLOCKS or (node.tag == "table" and not node.classes) for node in table.iter())


def html_tables(nodes: Iterable[Node], *, lines: SourceLines, caption: Caption = NO_CAPTION) -> list[Table]:
    """Returns the tables that contain text; the caption belongs to the first one."""
    found: list[Table] = []
    for node in nodes:
        table = _html_table(node, lines=lines, caption=NO_CAPTION if found else caption)
        if table.cells:
            found.append(table)
    return found


def _html_table(table: Node, *, lines: SourceLines, caption: Caption) -> Table:
    head = 0
    rows: list[list[MarkupCell]] = []
    for row, in_head in _rows(table, in_head=False):
        head += in_head and len(rows) == head
        rows.append([_cell(node, lines=lines) for node in row.nodes if _tag(node) in ("td", "th")])
    return table_of_rows(rows, lines.of(table), head=head, caption=caption)


def _tag(node: Node) -> str:
    """Returns the table tag that an element represents, "" for others."""
    if node.tag in _TAGS:
        return node.tag
    return next((tag for name, tag in _CLASSES.items() if name in node.classes), "")


def _rows(node: Node, *, in_head: bool) -> Iterator[tuple[Node, bool]]:
    """Yields the rows of a table, without those of tables in its cells, and whether each is in the table's head."""
    for child in node.nodes:
        tag = _tag(child)
        if tag == "tr":
            yield child, in_head
        elif tag not in ("table", "td", "th"):
            yield from _rows(child, in_head=in_head or tag == "thead")


def _cell(node: Node, *, lines: SourceLines) -> MarkupCell:
    spans = {"col": node.integer("colspan", default=1), "row": node.integer("rowspan", default=1)}
    spans.update({match[1]: int(match[2]) for match in map(_SPAN.fullmatch, node.classes) if match})
    return MarkupCell(
        text=inline_text(node.children),
        place=lines.of(node),
        row_span=spans["row"],
        column_span=max(1, spans["col"]),
        is_header=_tag(node) == "th" or "ltx_th" in node.classes or node.get("role") in ("columnheader", "rowheader"),
        bold=is_bold(node.children),
    )
