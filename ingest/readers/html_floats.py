"""Figures, tables and listings of an HTML page with their captions, and its display equations."""

import re
from collections.abc import Iterator
from dataclasses import replace

from ingest.readers.float_captions import Label, split_caption
from ingest.readers.html_tables import html_table, is_layout, is_table
from ingest.readers.inline_text import collapse_spaces, inline_text
from ingest.readers.latex import latex_text, split_tag
from ingest.readers.markup_tree import Node
from ingest.readers.mathml import mathml_text
from ingest.readers.reading import Source, SourceLines
from paperscope_core.types import Element, Equation, Figure, Panel, Passage, Place, Table

__all__ = ["equations_of", "figure_of", "float_elements", "is_float", "listing_text", "tex_equation"]


_CLASSES = frozenset("ltx_figure ltx_table ltx_float table-wrap fig figure tw xbox table-wrapper wp-caption".split())
_CAPTIONS = frozenset("ltx_caption caption table-caption fig-caption wp-caption-text figcaption".split())
_PANEL = re.compile(r"\(?([a-z]|[ivx]+)[).:]\s*")


def is_float(node: Node) -> bool:
    """Whether an element holds a figure or table together with its caption."""
    return node.tag == "figure" or (not node.classes.isdisjoint(_CLASSES) and node.tag in ("div", "section", "span"))


def figure_of(image: Node, *, source: Source) -> Figure:
    """The figure that a picture makes without a caption: its `title` or `alt` serves."""
    crop = source.images.named(_address(image))
    words = collapse_spaces(image.get("title") or image.get("alt"))
    label = split_caption(words)
    named = label is not None and label.kind == "figure"
    return Figure(
        id="",
        place=source.lines.of(image),
        order=0,
        label=label.label if label and named else "",
        caption=label.rest if label and named else words,
        crop=crop,
    )


def float_elements(node: Node, *, source: Source) -> list[Element]:
    """The elements of a float; none if it holds several floats with captions of their own, or nothing of its kind."""
    inner = [part for part in node.iter() if is_float(part)]
    if sum(_labelled(part) for part in inner) > 0 and not _own_caption(node):
        return []
    caption = _own_caption(node) or _any_caption(node)
    words = inline_text(caption.children) if caption is not None else ""
    place = source.lines.of(caption) if caption is not None else None
    label = split_caption(words)
    tables = [node] if is_table(node) else [part for part in node.outermost(is_table) if not is_layout(part)]
    if tables and not (label and label.kind == "figure" and next(node.iter("img"), None)):
        return _tables(tables, label, words, place, source=source)
    listing = any(part.tag == "pre" or "ltx_listing" in part.classes for part in node.iter())
    if listing or (label and label.kind == "code"):
        return _listing(node, label, words, source=source)
    return _figure(node, label, words, place, source=source)


def _own_caption(node: Node) -> Node | None:
    """The caption of a float, not those of floats within it."""
    return next(node.outermost(lambda part: _is_caption(part) or is_float(part)), None) if _has_own(node) else None


def _has_own(node: Node) -> bool:
    return any(_is_caption(part) for part in node.outermost(lambda part: _is_caption(part) or is_float(part)))


def _any_caption(node: Node) -> Node | None:
    return next((part for part in node.iter() if _is_caption(part)), None)


def _is_caption(node: Node) -> bool:
    return node.tag in ("figcaption", "caption") or not node.classes.isdisjoint(_CAPTIONS)


def _labelled(node: Node) -> bool:
    caption = _any_caption(node)
    return caption is not None and split_caption(inline_text(caption.children)) is not None


def _tables(
    tables: list[Node], label: Label | None, words: str, place: Place | None, *, source: Source
) -> list[Element]:
    """The tables of a float; the caption is the first one's."""
    found: list[Element] = []
    for node in tables:
        first = not found
        table = html_table(
            node,
            lines=source.lines,
            label=label.label if label and first else "",
            caption=(label.rest if label else words) if first else "",
            caption_place=place if first else None,
        )
        if table:
            found.append(table)
    return found


def listing_text(node: Node) -> str:
    """The lines of a listing or an algorithm, their indentation kept."""
    rows = [part for part in node.iter() if "ltx_listingline" in part.classes]
    if rows:
        return "\n".join(collapse_spaces(row.text()) for row in rows)
    inner = node if node.tag == "pre" else next(node.iter("pre"), node)
    return inner.text().expandtabs(4).strip("\n").rstrip()


def _listing(node: Node, label: Label | None, words: str, *, source: Source) -> list[Element]:
    return [
        Passage(
            id="",
            place=source.lines.of(node),
            order=0,
            text=listing_text(node),
            role="code",
            label=label.label if label else "",
            caption=label.rest if label else words,
        )
    ]


def _address(image: Node) -> str:
    return image.get("src") or image.get("data-src")


def _figure(node: Node, label: Label | None, words: str, place: Place | None, *, source: Source) -> list[Element]:
    images = list(node.iter("img"))
    crops = [crop for image in images if (crop := source.images.named(_address(image)))]
    crop = source.images.joined(crops)
    if label and label.kind == "table":
        table = Table(id="", place=source.lines.of(node), order=0, cells=(), crop=crop, confidence=0.0)
        return [replace(table, label=label.label, caption=label.rest, caption_place=place)]
    if not images and not words:
        return []
    alternative = " ".join(filter(None, (collapse_spaces(image.get("alt")) for image in images)))
    figure = Figure(
        id="",
        place=source.lines.of(node),
        order=0,
        label=label.label if label else "",
        caption=label.rest if label else words or alternative,
        caption_place=place,
        crop=crop,
        panels=_panels(node, source=source),
    )
    return [figure]


def _panels(node: Node, *, source: Source) -> tuple[Panel, ...]:
    panels = []
    for part in node.iter():
        caption = _any_caption(part) if is_float(part) else None
        words = inline_text(caption.children) if caption is not None else ""
        if match := _PANEL.match(words):
            panels.append(Panel(mark=match[1], place=source.lines.of(part), caption=words[match.end() :]))
    return tuple(panels)


_DELIMITERS = (("\\[", "\\]"), ("$$", "$$"), ("\\(", "\\)"))


def equations_of(node: Node, *, lines: SourceLines) -> list[Equation]:
    """The equations in an element: LaTeXML's, one for each number or row, or a formula on lines of its own."""
    if node.tag == "math" or "math" in node.classes:
        return tex_equation(_source(node), node, lines=lines) if node.tag != "math" else _from_mathml(node, lines=lines)
    rows = list(_rows(node)) or [node]
    return [equation for row in rows if (equation := _row(row, lines=lines))]


def tex_equation(source: str, node: Node, *, lines: SourceLines) -> list[Equation]:
    """The equation that LaTeX says, numbered by its `\\tag`."""
    plain, number = split_tag(source)
    text = latex_text(plain)
    label = f"Equation {number}" if number else ""
    return [Equation(id="", place=lines.of(node), order=0, text=text, label=label)] if text else []


def _from_mathml(math: Node, *, lines: SourceLines) -> list[Equation]:
    _, number = split_tag(math.get("alttext"))
    text = mathml_text(math)
    label = f"Equation {number}" if number else ""
    return [Equation(id="", place=lines.of(math), order=0, text=text, label=label)] if text else []


def _source(node: Node) -> str:
    source = node.text().strip()
    for opening, closing in _DELIMITERS:
        if source.startswith(opening) and source.endswith(closing):
            return source[len(opening) : -len(closing)]
    return source


def _rows(node: Node) -> Iterator[Node]:
    """The parts of a LaTeXML equation that have a number of their own."""
    numbered = [part for part in node.outermost(lambda part: part.tag in ("tbody", "tr")) if _number(part)]
    return iter(numbered if len(numbered) > 1 else [])


def _row(row: Node, *, lines: SourceLines) -> Equation | None:
    text = " ".join(filter(None, (mathml_text(math) for math in row.outermost(lambda part: part.tag == "math"))))
    number = _number(row)
    if not text:
        return None
    label = f"Equation {number}" if number else ""
    return Equation(id="", place=lines.of(row), order=0, text=text, label=label)


def _number(node: Node) -> str:
    tag = next((part for part in node.iter() if "ltx_tag_equation" in part.classes), None)
    return inline_text(tag.children).strip("() ") if tag is not None else ""
