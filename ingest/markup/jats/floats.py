"""Figures, tables and display equations of a JATS article."""

from ingest.markup.captions import label_of
from ingest.markup.html.tables import table_of
from ingest.markup.inline import inline_text
from ingest.markup.nodes import Node
from ingest.markup.reading import Source
from ingest.markup.spots import Lines
from paperscope.types import Element, Equation, Figure, Passage, Place, Table

__all__ = ["equation_of", "figure_of", "tables_of"]


def figure_of(fig: Node, *, source: Source) -> list[Element]:
    """A figure with its label and caption; a bare `graphic` is one without."""
    label, caption, place = _named(fig, lines=source.lines)
    graphics = [fig] if fig.tag == "graphic" else list(fig.all("graphic", "inline-graphic"))
    return [
        Figure(
            id="",
            place=source.lines.of(fig),
            order=0,
            label=label,
            caption=caption,
            caption_place=place,
            crop=_crop(graphics, source=source),
        )
    ]


def tables_of(wrap: Node, *, source: Source) -> list[Element]:
    """The tables of a `table-wrap` (the caption is the first one's), and its notes behind them. One that is only a
    picture has no cells."""
    label, caption, place = _named(wrap, lines=source.lines)
    tables = [wrap] if wrap.tag == "table" else list(wrap.where(lambda node: node.tag == "table"))
    found: list[Element] = []
    for node in tables:
        named = (label, caption, place) if not found else ("", "", None)
        table = table_of(node, lines=source.lines, label=named[0], caption=named[1], caption_place=named[2])
        if table:
            found.append(table)
    if not found:
        crop = _crop(list(wrap.all("graphic")), source=source)
        found.append(
            Table(
                id="",
                place=source.lines.of(wrap),
                order=0,
                cells=(),
                label=label,
                caption=caption,
                caption_place=place,
                crop=crop,
                confidence=0.0,
            )
        )
    return [*found, *_notes(wrap, lines=source.lines)]


def equation_of(formula: Node, *, lines: Lines) -> list[Equation]:
    """The equation with its number."""
    label = formula.one("label")
    number = label.plain().strip("() .") if label is not None else ""
    text = inline_text(child for child in formula.children if child is not label)
    if not text:
        return []
    name = f"Equation {number.removeprefix('Equation ').removeprefix('Eq. ')}" if number else ""
    return [Equation(id="", place=lines.of(formula), order=0, text=text, label=name)]


def _named(node: Node, *, lines: Lines) -> tuple[str, str, Place | None]:
    """Label, caption and the caption's place. The caption's title comes before its paragraphs."""
    label, caption = node.one("label"), node.one("caption")
    name = label_of(inline_text(label.children)) if label is not None else ""
    if caption is None:
        return name, "", lines.of(label) if label is not None else None
    parts = [text for part in caption.nodes if (text := inline_text(part.children))]
    words = " ".join(text if text.endswith((".", ":", "?")) or text is parts[-1] else f"{text}." for text in parts)
    return name, words or inline_text(caption.children), lines.of(label or caption, caption)


def _notes(wrap: Node, *, lines: Lines) -> list[Element]:
    nodes = [node for foot in wrap.many("table-wrap-foot") for node in foot.where(lambda part: part.tag in ("fn", "p"))]
    return [
        Passage(id="", place=lines.of(node), order=0, text=text, role="footnote")
        for node in nodes
        if (text := inline_text(node.children))
    ]


def _crop(graphics: list[Node], *, source: Source) -> str | None:
    crops = [crop for node in graphics if (crop := source.pictures.named(node.get("href")))]
    return source.pictures.joined(crops)
