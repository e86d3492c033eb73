"""Each element of a paper as HTML, under its id, with what it names as links."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from html import escape

from ingest.export.html_links import linked
from ingest.export.names import crop_names, stems
from paperscope.types import Element, Equation, Figure, Link, Paper, Passage, Reference, Table

__all__ = ["ElementHtml"]

# How many pixels a point of paper is, so that a formula's letters are about as large as the page's.
_PIXELS = 1.6


class ElementHtml:
    """Renders elements of one paper."""

    def __init__(self, paper: Paper) -> None:
        self._stems = stems(paper)
        self._links: dict[str, list[Link]] = defaultdict(list)
        anchors = {element.id for element in paper.elements} | {section.id for section in paper.sections}
        for link in paper.links:
            if link.target in anchors:
                self._links[link.source].append(link)

    def html(self, element: Element) -> str:
        """The element as a block, or as the item of a list."""
        match element:
            case Passage():
                return self._passage(element)
            case Reference():
                label = "" if element.label in element.text or element.label[:1] != "[" else f"{element.label} "
                return f"<li{self.attributes(element)}>{escape(label)}{self.text(element)}</li>"
            case Table():
                return self._float(element, self._caption(element) + "".join(self._table(element)))
            case Figure():
                return self._float(element, "".join(self._figure(element)))
            case Equation():
                pictures = self._pictures(element)
                text = f"<p>{self.text(element)}</p>"
                shown = f"{pictures}{_details('Text', text)}" if pictures else text
                return self._float(element, f"{shown}{self._caption(element)}", kind="equation")

    def attributes(self, element: Element) -> str:
        """The anchor, the page as a hint, and the direction of the script."""
        return f' id="{escape(element.id)}" title="{element.place.where}" dir="auto"'

    def text(self, element: Element) -> str:
        """The element's text (of a float: its caption) with its links."""
        words = element.caption if isinstance(element, Table | Figure) else element.text
        return linked(words, self._links[element.id])

    def _passage(self, passage: Passage) -> str:
        attributes = self.attributes(passage)
        match passage.role:
            case "list":
                return f"<li{attributes}>{self.text(passage)}</li>"
            case "code":
                caption = self._caption(passage)
                return f"<figure{attributes}>{caption}<pre>{escape(passage.text)}</pre></figure>"
            case "authors" | "footnote":
                return f'<p{attributes} class="{passage.role}">{self.text(passage)}</p>'
            case _:
                return f"<p{attributes}>{self.text(passage)}</p>"

    def _float(self, element: Element, inner: str, *, kind: str = "") -> str:
        name = f' class="{kind}"' if kind else ""
        return f"<figure{self.attributes(element)}{name}>{inner}</figure>"

    def _caption(self, element: Table | Figure | Equation | Passage) -> str:
        if isinstance(element, Equation):
            words = ""
        elif isinstance(element, Passage):
            words = escape(element.caption)
        else:
            words = self.text(element)
        label = f"<b>{escape(element.label)}</b> " if element.label else ""
        return f"<figcaption>{label}{words}</figcaption>" if label or words else ""

    def _table(self, table: Table) -> Iterator[str]:
        pictures = self._pictures(table)
        if not table.cells:
            yield pictures
            return
        yield f'<div class="scroll">{replace(table, label="", caption="").to_html()}</div>'
        if pictures:
            yield _details("As printed", pictures)

    def _figure(self, figure: Figure) -> Iterator[str]:
        yield self._pictures(figure)
        yield self._caption(figure)
        panels = (f"<li>({escape(panel.mark)}) {escape(panel.caption)}</li>" for panel in figure.panels)
        if figure.panels:
            yield f'<ul class="items">{"".join(panels)}</ul>'
        if figure.text:
            yield _details("Text in the figure", f"<p>{escape(figure.text)}</p>")

    def _pictures(self, element: Table | Figure | Equation) -> str:
        width = (element.place.box.x1 - element.place.box.x0) * _PIXELS if isinstance(element, Equation) else 0
        size = f' width="{round(width)}"' if width > 0 else ""
        alternative = escape(element.label or element.kind)
        names = crop_names(element, stem=self._stems[element.id]).values()
        return "".join(f'<img src="{escape(name)}" alt="{alternative}"{size} loading="lazy">' for name in names)


def _details(summary: str, inner: str) -> str:
    return f"<details><summary>{summary}</summary>{inner}</details>"
