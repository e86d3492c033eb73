"""Walks through the text of a TEI document."""

from collections.abc import Mapping
from typing import Protocol

from ingest.markup.inline import inline_text
from ingest.markup.nodes import Node
from ingest.markup.pictures import Pictures
from ingest.markup.tei.citations import reference_of
from ingest.markup.tei.floats import equation_of, figure_of, table_of
from paperscope.types import Element, Passage, PassageRole, Place

__all__ = ["Places", "TeiWalker"]

_BLOCKS = frozenset("figure table list formula note listbibl".split())
_HEADS = {"acknowledgement": "Acknowledgements", "references": "References", "funding": "Funding"}


class Places(Protocol):
    """Makes places of nodes."""

    def of(self, *nodes: Node) -> tuple[Place, ...]:
        """At least one place."""
        ...


class TeiWalker:
    """Collects `elements` of one document; `numbers` are those under which the text cites its bibliography."""

    def __init__(self, places: Places, *, pictures: Pictures, numbers: Mapping[str, str]) -> None:
        self.elements: list[Element] = []
        self._places = places
        self._pictures = pictures
        self._numbers = numbers

    def passage(self, text: str, role: PassageRole, *nodes: Node, level: int = 0) -> None:
        """Add a passage, unless it is empty."""
        if text:
            place, *more = self._places.of(*nodes)
            self.elements.append(
                Passage(id="", place=place, order=0, text=text, role=role, level=level, more_places=tuple(more))
            )

    def walk(self, node: Node, *, level: int = 1) -> None:
        """Read `front`, `body`, `back` or a division."""
        for child in node.nodes:
            match child.tag:
                case "div" | "div1" | "div2" | "div3" | "div4" | "group":
                    self._division(child, level=level)
                case "head":
                    self._heading(child, level=level)
                case "p" | "ab" | "quote" | "s" | "q" | "l" | "lg" | "epigraph":
                    self._paragraph(child)
                case _:
                    self._block(child)

    def _division(self, node: Node, *, level: int) -> None:
        """A section; one without a head is named by its type, or goes on with the section before."""
        head = next((part for part in node.all("head") if part.plain()), None)
        default = _HEADS.get(node.get("type"), "")
        if default and head is None and node.plain():
            self.passage(default, "heading", node, level=level)
        self.walk(node, level=level + (node.one("head") is not None))

    def _heading(self, head: Node, *, level: int) -> None:
        number = head.get("n").strip(" .")
        text = inline_text(head.children)
        words = text if not number or text.startswith(number) else f"{number} {text}"
        self.passage(words, "heading", head, level=max(level - 1, 1))

    def _paragraph(self, node: Node, *, mark: str = "") -> None:
        """The running text, then the floats and notes that stand in it."""
        text = inline_text(_without_blocks(node))
        self.passage(mark + text if text else "", "list" if mark else "paragraph", node)
        for block in node.where(lambda part: part.tag in _BLOCKS):
            self._block(block)

    def _block(self, node: Node) -> None:
        match node.tag:
            case "figure" if node.get("type") == "table" or next(node.all("table"), None):
                self.elements.extend(table_of(node, self._places))
            case "figure":
                self.elements.extend(figure_of(node, self._places, pictures=self._pictures))
            case "table":
                self.elements.extend(table_of(node, self._places))
            case "formula":
                self.elements.extend(equation_of(node, self._places))
            case "list":
                self._list(node)
            case "note":
                number = node.get("n").strip()
                text = inline_text(_without_blocks(node))
                self.passage(f"{number} {text}".strip() if text else "", "footnote", node)
            case "listbibl":
                self._bibliography(node)
            case _ if node.plain():
                self._paragraph(node)

    def _list(self, node: Node) -> None:
        ordered = node.get("type") in ("ordered", "numbered") or node.get("rend") == "numbered"
        for number, item in enumerate(node.many("item"), start=1):
            self._paragraph(item, mark=item.get("n") + " " if item.get("n") else f"{number}. " if ordered else "• ")

    def _bibliography(self, node: Node) -> None:
        if not any(isinstance(element, Passage) and element.role == "heading" for element in self.elements[-1:]):
            self.passage("References", "heading", node, level=1)
        for entry in node.many("biblstruct", "bibl", "biblfull"):
            if entry.plain() and (found := reference_of(entry, self._places.of(entry), numbers=self._numbers)):
                self.elements.append(found)


def _without_blocks(node: Node) -> list[Node | str]:
    return [child for child in node.children if isinstance(child, str) or child.tag not in _BLOCKS]
