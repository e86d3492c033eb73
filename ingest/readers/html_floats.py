"""Figures, tables and listings of an HTML page with their captions, and its display equations."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.document.drafts import NO_CAPTION, Caption, draft_equation, draft_figure, draft_listing, draft_table
from ingest.readers.float_captions import read_caption, split_caption
from ingest.readers.html_tables import html_tables, is_layout, is_table
from ingest.readers.inline_text import collapse_spaces, node_text
from ingest.readers.latex import latex_text, split_tag
from ingest.readers.markup_tree import Node
from ingest.readers.mathml import mathml_text
from ingest.readers.reading import Source, SourceLines
from paperscope_core.types import Element, Equation, Figure, Panel

__all__ = ["equations_of", "figure_of", "float_elements", "is_float", "listing_text"]

_FLOATS = frozenset("ltx_figure ltx_table ltx_float table-wrap fig figure tw xbox table-wrapper wp-caption".split())
_CAPTIONS = frozenset("ltx_caption caption table-caption fig-caption wp-caption-text figcaption".split())
_PANEL = re.compile(r"\(?([a-z]|[ivx]+)[).:]\s*")
_DELIMITERS = (("\\[", "\\]"), ("$$", "$$"), ("\\(", "\\)"))


def is_float(node: Node) -> bool:
    """Whether an element holds a figure or table together with its caption."""
    return node.tag == "figure" or (not node.classes.isdisjoint(_FLOATS) and node.tag in ("div", "section", "span"))


def figure_of(image: Node, *, source: Source) -> Figure:
    """Returns the figure of an image without a caption; the image's title or alternative text is used instead."""
    text = collapse_spaces(image.get("title") or image.get("alt"))
    caption = split_caption(text)
    if caption is None or caption.kind != "figure":
        caption = Caption(text=text)
    return draft_figure(source.lines.of(image), caption=caption, crop=source.images.named(_address(image)))


def float_elements(node: Node, *, source: Source) -> Sequence[Element]:
    """The elements of a float, [] if it holds several floats with captions of their own, or nothing of its kind."""
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
    """Returns the lines of a listing or an algorithm, indented as in the source."""
    rows = [part for part in node.iter() if "ltx_listingline" in part.classes]
    if rows:
        return "\n".join(collapse_spaces(row.text()) for row in rows)
    inner = node if node.tag == "pre" else next(node.iter("pre"), node)
    return inner.text().expandtabs(4).strip("\n").rstrip()


def _figure(node: Node, caption: Caption, *, source: Source) -> list[Element]:
    """Returns the figure, or the table without cells, that the images of a float show; [] without any."""
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
    """The display equations in an element: MathML, a formula in LaTeX, or LaTeXML's, one for each numbered row."""
    if node.tag == "math":
        return _equation(mathml_text(node), split_tag(node.get("alttext"))[1], node, lines=lines)
    if "math" in node.classes:
        formula, number = split_tag(_latex_source(node))
        return _equation(latex_text(formula), number, node, lines=lines)
    numbered = [part for part in node.outermost(lambda part: part.tag in ("tbody", "tr")) if _number(part)]
    found: list[Equation] = []
    for row in numbered if len(numbered) > 1 else [node]:
        formulas = (mathml_text(math) for math in row.outermost(lambda part: part.tag == "math"))
        found.extend(_equation(" ".join(filter(None, formulas)), _number(row), row, lines=lines))
    return found


def _equation(text: str, number: str, node: Node, *, lines: SourceLines) -> list[Equation]:
    return [draft_equation(text, lines.of(node), number=number)] if text else []


def _latex_source(node: Node) -> str:
    source = node.text().strip()
    for opening, closing in _DELIMITERS:
        if source.startswith(opening) and source.endswith(closing):
            return source[len(opening) : -len(closing)]
    return source


def _number(node: Node) -> str:
    return node_text(next((part for part in node.iter() if "ltx_tag_equation" in part.classes), None)).strip("() ")
