"""Figures, tables and listings of HTML (also of JATS and LaTeXML) with their captions, and display equations."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from ingest.document.cell_values import is_value
from ingest.document.drafts import NO_CAPTION, Caption, draft_equation, draft_figure, draft_listing, draft_table
from ingest.readers.element_collector import Source, SourceLines
from ingest.readers.float_captions import read_caption, split_caption
from ingest.readers.formula_text import mathml_latex, mathml_text
from ingest.readers.inline_text import collapse_spaces, inline_text, is_bold, node_text
from ingest.readers.markup_tree import Node, parse_html
from ingest.readers.table_grid import MarkupCell, table_of_rows
from paperscope_core.errors import PaperFileError
from paperscope_core.text.latex import latex_text, split_tag
from paperscope_core.types import Element, Equation, Figure, Panel, Place, Table

__all__ = [
    "equations_of",
    "figure_of",
    "float_elements",
    "html_tables",
    "is_float",
    "is_layout",
    "is_table",
    "listing_text",
    "table_of_markup",
]

_FLOATS = frozenset("ltx_figure ltx_table ltx_float table-wrap fig figure tw xbox table-wrapper wp-caption".split())
_CAPTIONS = frozenset("ltx_caption caption table-caption fig-caption wp-caption-text figcaption".split())
_PANEL = re.compile(r"\(?([a-z]|[ivx]+)[).:]\s*")
_DELIMITERS = (("\\[", "\\]"), ("$$", "$$"), ("\\(", "\\)"))

_TAGS = frozenset("table thead tbody tfoot tr td th".split())
# LaTeXML also makes tables of spans with these classes.
_CLASSES = {f"ltx_{tag}": tag for tag in ("thead", "tbody", "tfoot", "tr", "th", "td")} | {"ltx_tabular": "table"}
_SPAN = re.compile(r"ltx_(col|row)span_(\d{1,4})")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BLOCKS = frozenset("h1 h2 h3 h4 h5 h6 figure form article section pre nav".split())
_PAGE_PARTS = frozenset("h1 h2 h3 form article nav".split())
# The letters of a longer cell are a column of a page.
_MAX_CELL = 500


def is_float(node: Node) -> bool:
    """Return whether an element holds a figure or table together with its caption."""
    return node.tag == "figure" or (not node.classes.isdisjoint(_FLOATS) and node.tag in ("div", "section", "span"))


def figure_of(image: Node, *, source: Source) -> Figure:
    """Return the figure of an image without a caption; the image's title or alternative text is used instead."""
    text = collapse_spaces(image.get("title") or image.get("alt"))
    caption = split_caption(text)
    if caption is None or caption.kind != "figure":
        caption = Caption(text=text)
    return draft_figure(source.lines.of(image), caption=caption, crop=source.images.named(_address(image)))


def float_elements(node: Node, *, source: Source) -> Sequence[Element]:
    """Return the elements of a float, [] if it holds several floats with captions of their own, or none of its kind."""
    own_caption = next(filter(_is_caption, node.outermost(lambda part: _is_caption(part) or is_float(part))), None)
    if own_caption is None and any(
        split_caption(node_text(_any_caption(part))) for part in node.iter() if is_float(part)
    ):
        return []
    captioned = own_caption or _any_caption(node)
    caption = read_caption(node_text(captioned), place=source.lines.of(captioned)) if captioned else NO_CAPTION
    tables = [node] if is_table(node) else [part for part in node.outermost(is_table) if not is_layout(part)]
    if tables and not (caption.kind == "figure" and node.first_of("img")):
        return html_tables(tables, place_of=source.lines.of, caption=caption)
    is_listing = any(part.tag == "pre" or "ltx_listing" in part.classes for part in node.iter())
    if is_listing or caption.kind == "other":
        return [draft_listing(listing_text(node), source.lines.of(node), caption=caption)]
    return _figure(node, caption, source=source)


def _is_caption(node: Node) -> bool:
    return node.tag in ("figcaption", "caption") or not node.classes.isdisjoint(_CAPTIONS)


def _any_caption(node: Node) -> Node | None:
    return next(filter(_is_caption, node.iter()), None)


def listing_text(node: Node) -> str:
    """Return the lines of a listing or an algorithm, indented as in the source."""
    rows = [part for part in node.iter() if "ltx_listingline" in part.classes]
    if rows:
        return "\n".join(collapse_spaces(row.text()) for row in rows)
    inner = node if node.tag == "pre" else next(node.iter("pre"), node)
    return inner.text().expandtabs(4).strip("\n").rstrip()


def _figure(node: Node, caption: Caption, *, source: Source) -> list[Element]:
    """Return the figure, or the table without cells, that the images of a float show; [] without any."""
    place, images = source.lines.of(node), list(node.iter("img"))
    crop = source.images.joined(map(_address, images))
    if caption.kind == "table":
        return [draft_table((), place, caption=caption, crop=crop)]
    if not caption.label and not caption.text:
        if not images:
            return []
        caption = replace(caption, text=" ".join(filter(None, (collapse_spaces(image.get("alt")) for image in images))))
    return [draft_figure(place, caption=caption, crop=crop, panels=_panels(node, source=source))]


def _panels(node: Node, *, source: Source) -> tuple[Panel, ...]:
    captions = [(part, node_text(_any_caption(part))) for part in node.iter() if is_float(part)]
    return tuple(
        Panel(mark=match[1], place=source.lines.of(part), caption=text[match.end() :])
        for part, text in captions
        if (match := _PANEL.match(text))
    )


def _address(image: Node) -> str:
    return image.get("src") or image.get("data-src")


def equations_of(node: Node, *, lines: SourceLines) -> list[Equation]:
    """Return the display equations in an element: MathML, a formula in LaTeX, or LaTeXML's, one for each numbered
    row."""
    if "math" in node.classes and node.tag != "math":
        latex, number = split_tag(_latex_source(node))
        text = latex_text(latex)
        return [draft_equation(text, lines.of(node), latex=latex.strip(), number=number)] if text else []
    if node.tag == "math":
        return _equation([node], split_tag(node.get("alttext"))[1], node, lines=lines)
    numbered = [part for part in node.outermost(lambda part: part.tag in ("tbody", "tr")) if _number(part)]
    found: list[Equation] = []
    for row in numbered if len(numbered) > 1 else [node]:
        formulas = list(row.outermost(lambda part: part.tag == "math"))
        found.extend(_equation(formulas, _number(row), row, lines=lines))
    return found


def _equation(formulas: Sequence[Node], number: str, node: Node, *, lines: SourceLines) -> list[Equation]:
    """Return the equation of `math` elements beside each other."""
    text = " ".join(filter(None, map(mathml_text, formulas)))
    latex = " ".join(filter(None, map(mathml_latex, formulas)))
    return [draft_equation(text, lines.of(node), latex=latex, number=number)] if text else []


def _latex_source(node: Node) -> str:
    source = node.text().strip()
    for opening, closing in _DELIMITERS:
        if source.startswith(opening) and source.endswith(closing):
            return source[len(opening) : -len(closing)]
    return source


def _number(node: Node) -> str:
    return node_text(next((part for part in node.iter() if "ltx_tag_equation" in part.classes), None)).strip("() ")


def is_table(node: Node) -> bool:
    """Return whether an element is a table."""
    return _tag(node) == "table"


def is_layout(table: Node) -> bool:
    """Return whether a table only lays out the page: it says so, or has no caption, no header and no grid of cells that
    each hold a value or a short text."""
    if table.get("role") in ("presentation", "none"):
        return True
    blocks = [node for node in table.iter() if node.tag in _BLOCKS or (node.tag == "table" and not node.classes)]
    if not blocks:
        return False
    rows = [row for row, _ in _rows(table, in_head=False)]
    cells = [[cell for cell in row.nodes if _tag(cell) in ("td", "th")] for row in rows]
    if table.find("caption") is not None or any(_tag(cell) == "th" for row in cells for cell in row):
        return False
    if len(cells) < 2 or max(map(len, cells)) < 2 or any(node.tag in _PAGE_PARTS for node in blocks):
        return True
    return max(len(cell.plain_text()) for row in cells for cell in row) > _MAX_CELL


def html_tables(
    nodes: Iterable[Node], *, place_of: Callable[[Node], Place], caption: Caption = NO_CAPTION
) -> list[Table]:
    """Return the tables that contain text; the caption belongs to the first one."""
    found: list[Table] = []
    for node in nodes:
        table = _html_table(node, place_of=place_of, caption=NO_CAPTION if found else caption)
        if table.cells:
            found.append(table)
    return found


def table_of_markup(markup: str, place: Place) -> Table | None:
    """Return the table that a model wrote in HTML, all at one place; several are one. None if there is none.

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
    """Return the number of rows above the first that holds mostly values (a year is not one), 0 if there is none."""
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
    """Return the rows of tables, one below the other, and how many of the first are in the table's head."""
    head = 0
    rows: list[list[MarkupCell]] = []
    for row, in_head in chain.from_iterable(_rows(table, in_head=False) for table in tables):
        head += in_head and len(rows) == head
        rows.append([_cell(node, place_of(node)) for node in row.nodes if _tag(node) in ("td", "th")])
    return rows, head


def _tag(node: Node) -> str:
    """Return the table tag that an element represents, "" for others."""
    if node.tag in _TAGS:
        return node.tag
    return next((tag for name, tag in _CLASSES.items() if name in node.classes), "")


def _rows(node: Node, *, in_head: bool) -> Iterator[tuple[Node, bool]]:
    """Yield the rows of a table, without the rows of tables in its cells, and whether each is in the table's head."""
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
