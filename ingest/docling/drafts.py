"""Docling's nodes to elements in reading order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.docling.captions import captions_of
from ingest.docling.nodes import DoclingFile, Node
from ingest.docling.places import Places
from ingest.docling.tables import cells_of, header_rows
from ingest.docling.tree import Tree, is_float
from ingest.mineru.blocks import Block, BlockKind, TextLine
from ingest.mineru.roles import front_of, heading_level, is_abstract, opens_references
from ingest.pdf.drafts import Draft
from ingest.pdf.references.entry import entry_label, entry_year
from ingest.pdf.text.heading_styles import split_number
from paperscope.types import Element, Equation, Figure, PageProblem, Passage, PassageRole, Reference, Table

__all__ = ["Drafted", "draft_nodes"]

_READ = 0.8
_NUMBER = re.compile(r"\s*\(\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?[a-z]?)\s*\)\s*$")
_FRONT: dict[str, BlockKind] = {"title": "title", "section_header": "heading", "text": "text", "paragraph": "text"}
_PLAIN_MARKS = ("-", "·", "*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Drafted:
    """The elements of a document, its title and the lines of its authors, and what docling did not read."""

    drafts: tuple[Draft, ...]
    title: str
    authors: tuple[str, ...]
    problems: tuple[PageProblem, ...]


def draft_nodes(document: DoclingFile, places: Places) -> Drafted:
    """All elements of a document."""
    return _Drafter(document, places).drafted()


class _Drafter:
    def __init__(self, document: DoclingFile, places: Places) -> None:
        self._tree = Tree(document)
        self._places = places
        self._captions = captions_of(self._tree, places)
        self._title, self._authors = self._front()
        self._problems: list[PageProblem] = []

    def drafted(self) -> Drafted:
        """See `draft_nodes`."""
        furniture: list[Draft] = []
        drafts = [*self._head()]
        for at, (node, element) in enumerate(self._elements()):
            if isinstance(element, Passage) and element.role == "furniture":
                furniture.append(Draft(at=at, element=element))
            elif node is not self._title and node not in self._authors:
                drafts.append(Draft(at=at, element=element))
        return Drafted(
            drafts=(*drafts, *furniture),
            title=self._title.text if self._title else "",
            authors=tuple(node.text for node in self._authors),
            problems=tuple(self._problems),
        )

    def _front(self) -> tuple[Node | None, tuple[Node, ...]]:
        blocks: dict[Block, Node] = {}
        for node in self._tree.nodes:
            if node.label in _FRONT and node.text and node.content_layer == "body":
                place = self._places.of(node)[0]
                line = TextLine(text=node.text, box=place.box)
                blocks[Block(kind=_FRONT[node.label], page=place.page, box=place.box, lines=(line,))] = node
        front = front_of(list(blocks))
        return blocks[front.title] if front.title else None, tuple(blocks[block] for block in front.authors)

    def _head(self) -> Iterator[Draft]:
        if self._title:
            yield Draft(at=-2, element=self._passage(self._title, "title"))
        if self._authors:
            text = "\n".join(node.text for node in self._authors)
            place, *more = (self._places.of(node)[0] for node in self._authors)
            element = Passage(id="", place=place, order=0, text=text, role="authors", more_places=tuple(more))
            yield Draft(at=-1, element=element)

    def _elements(self) -> Iterator[tuple[Node, Element]]:
        captions = frozenset[str]().union(*(parts for _, parts in self._captions.values()))
        headings = [node.level for node in self._tree.nodes if node.label == "section_header" and node.level]
        least, last = min(headings, default=1), 0
        role: PassageRole = "paragraph"
        references = False
        for node in self._tree.nodes:
            if node.self_ref in captions:
                continue
            if is_float(node):
                yield node, self._float(node)
            elif node.label == "formula":
                yield node, self._equation(node)
            elif not node.text.strip():
                continue
            elif node.label in ("section_header", "title"):
                level = heading_level(node.text, given=node.level, least=least, last=last)
                last = level if split_number(node.text)[0] else last
                references = opens_references(node.text)
                role = "abstract" if is_abstract(node.text) and len(node.text) < 12 else "paragraph"
                yield node, self._passage(node, "heading", level=level)
            elif node.label == "reference" or (references and node.label in ("list_item", "text", "paragraph")):
                yield node, self._reference(node)
            else:
                self._tell_lost(node)
                opens = role == "paragraph" and is_abstract(node.text) and not last
                yield node, self._passage(node, _role(node, "abstract" if opens else role))

    def _float(self, node: Node) -> Element:
        caption, _ = self._captions.get(node.self_ref, (None, None))
        place, *more = self._places.of(node)
        label, text, at = (caption.label, caption.text, caption.place) if caption else ("", "", None)
        if node.label == "code":
            return Passage(id="", place=place, order=0, text=node.text or node.orig, role="code", label=label,
                           caption=text, more_places=tuple(more))  # fmt: skip
        if node.label in ("table", "document_index") or (caption and caption.kind == "table"):
            cells = cells_of(node, self._places)
            if not cells:
                self._tell(place.page, f"{label or 'a table'}: docling read no cells of it")
            return Table(id="", place=place, order=0, cells=cells, label=label, caption=text, caption_place=at,
                         header_rows=header_rows(cells), confidence=_READ if cells else 0.0,
                         more_places=tuple(more))  # fmt: skip
        inside = " ".join(part.text for part in self._tree.inside(node) if part.text)
        return Figure(id="", place=place, order=0, label=label, caption=text, caption_place=at, text=inside)

    def _equation(self, node: Node) -> Equation:
        """A formula; docling keeps its number in the text as printed."""
        number = _NUMBER.search(node.orig)
        text = node.text.strip() or (node.orig[: number.start()] if number else node.orig).strip()
        label = f"Equation {number[1]}" if number else ""
        return Equation(id="", place=self._places.of(node)[0], order=0, text=text, label=label)

    def _reference(self, node: Node) -> Reference:
        place, *more = self._places.of(node)
        text = _marked(node).removeprefix("• ")
        return Reference(id="", place=place, order=0, text=text, label=entry_label(text), year=entry_year(text),
                         more_places=tuple(more))  # fmt: skip

    def _passage(self, node: Node, role: PassageRole, *, level: int = 0) -> Passage:
        place, *more = self._places.of(node)
        text = _marked(node) if role == "list" else node.text.strip()
        return Passage(id="", place=place, order=0, text=text, role=role, level=level, more_places=tuple(more))

    def _tell_lost(self, node: Node) -> None:
        if node.label == "caption":
            self._tell(self._places.of(node)[0].page, f"{node.text[:60]!r}: docling found nothing beside this caption")

    def _tell(self, page: int, reason: str) -> None:
        self._problems.append(PageProblem(page=page, reason=reason))


def _role(node: Node, flow: PassageRole) -> PassageRole:
    """The role of running text; `flow` is that of the paragraphs here."""
    if node.label in ("page_header", "page_footer") or node.content_layer != "body":
        return "furniture"
    if node.label == "footnote":
        return "footnote"
    return "list" if node.label == "list_item" and flow == "paragraph" else flow


def _marked(node: Node) -> str:
    """An item of a list with its mark: the one that is printed, a bullet for docling's plain ones."""
    text, mark = node.text.strip(), node.marker.strip()
    if node.label != "list_item" or not mark or text.startswith(mark):
        return text
    return f"{'•' if mark in _PLAIN_MARKS else mark} {text}"
