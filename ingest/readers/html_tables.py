"""HTML tables (also those of JATS and LaTeXML) to cells."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from ingest.document.cell_values import is_value
from ingest.document.drafts import NO_CAPTION, Caption
from ingest.readers.inline_text import inline_text, is_bold
from ingest.readers.markup_tree import Node, parse_html
from ingest.readers.table_grid import MarkupCell, table_of_rows
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Place, Table

__all__ = ["html_tables", "is_layout", "is_table", "table_of_markup"]

_TAGS = frozenset("table thead tbody tfoot tr td th".split())
# LaTeXML also makes tables of spans with these classes.
_CLASSES = {f"ltx_{tag}": tag for tag in ("thead", "tbody", "tfoot", "tr", "th", "td")} | {"ltx_tabular": "table"}
_SPAN = re.compile(r"ltx_(col|row)span_(\d{1,4})")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BLOCKS = frozenset("h1 h2 h3 h4 h5 h6 figure form article section pre nav".split())


def is_table(node: Node) -> bool:
    """Whether an element is a table."""
    return _tag(node) == "table"


def is_layout(table: Node) -> bool:
    """Whether a table only lays out the page: it says so, or holds other tables, headings or figures."""
    if table.get("role") in ("presentation", "none"):
        return True
    return any(node.tag in _BLOCKS or (node.tag == "table" and not node.classes) for node in table.iter())


def html_tables(
    nodes: Iterable[Node], *, place_of: Callable[[Node], Place], caption: Caption = NO_CAPTION
) -> list[Table]:
    """Returns the tables that contain text; the caption belongs to the first one."""
    found: list[Table] = []
    for node in nodes:
        table = _html_table(node, place_of=place_of, caption=NO_CAPTION if found else caption)
        if table.cells:
            found.append(table)
    return found


def table_of_markup(markup: str, place: Place) -> Table | None:
    """Returns the table that a model wrote in HTML, all at one place; several are one. None if there is none.

    Where it marks no header, the rows above the first row of values are the header.
    """
    if not markup.strip():
        return None
    try:
        root, _ = parse_html(markup, name="a table")
    except PaperFileError:
        return None
    rows, head = _cells_of(root.outermost(is_table), place_of=lambda _: place)
    marked = any(cell.is_header for row in rows for cell in row)
    return table_of_rows(rows, place, head=head if head or marked else _rows_above_values(rows))


def _rows_above_values(rows: Sequence[Sequence[MarkupCell]]) -> int:
    """Returns the number of rows above the first that holds mostly values (a year is none), 0 if there is none."""
    for number, row in enumerate(rows):
        body = [cell.text for cell in row[1:] if cell.text]
        values = [text for text in body if is_value(text) and not _YEAR.fullmatch(text)]
        if values and 2 * len(values) >= len(body):
            # The title of a section above the values does not belong to the header.
            return number - 1 if number > 1 and len(rows[number - 1]) == 1 else number
    return 0


def _html_table(table: Node, *, place_of: Callable[[Node], Place], caption: Caption) -> Table:
    rows, head = _cells_of([table], place_of=place_of)
    return table_of_rows(rows, place_of(table), head=head, caption=caption)


def _cells_of(
    tables: Iterable[Node], *, place_of: Callable[[Node], Place]
) -> tuple[Sequence[Sequence[MarkupCell]], int]:
    """Returns the rows of tables, one below the other, and how many of the first are in the table's head."""
    head = 0
    rows: list[list[MarkupCell]] = []
    for row, in_head in chain.from_iterable(_rows(table, in_head=False) for table in tables):
        head += in_head and len(rows) == head
        rows.append([_cell(node, place_of(node)) for node in row.nodes if _tag(node) in ("td", "th")])
    return rows, head


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


def _cell(node: Node, place: Place) -> MarkupCell:
    spans = {"col": node.integer("colspan", default=1), "row": node.integer("rowspan", default=1)}
    spans.update({match[1]: int(match[2]) for match in map(_SPAN.fullmatch, node.classes) if match})
    return MarkupCell(
        text=inline_text(node.children),
        place=place,
        row_span=spans["row"],
        column_span=max(1, spans["col"]),
        is_header=_tag(node) == "th" or "ltx_th" in node.classes or node.get("role") in ("columnheader", "rowheader"),
        bold=is_bold(node.children),
    )
