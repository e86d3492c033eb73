"""The input and output of a reader, and the collector of its elements."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingest.document.drafts import draft_passage
from ingest.readers.embedded_images import EmbeddedImages
from ingest.readers.inline_text import inline_text, is_bold
from ingest.readers.markup_tree import Node
from paperscope_core.types import UNPUBLISHED, Box, Element, Page, PageProblem, PassageRole, Place, Publication

__all__ = ["ElementCollector", "Reading", "Source", "SourceLines", "bold_heading_level", "section_number"]

_NUMBER = re.compile(r"(?:(?:Appendix|Section)\s+)?(\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,3})[.:)]?\s+\S")
_NAMED_HEADINGS = frozenset("abstract references bibliography acknowledgements acknowledgments".split())
# A longer paragraph in bold is emphasised text.
_MAX_HEADING_LENGTH = 100
# Below the six levels of HTML.
_BOLD_LEVEL = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceLines:
    """Makes places that are lines of a paper's source, counted after the lines `before`."""

    paper: str
    before: int = 0

    def at(self, first: int, last: int) -> Place:
        """Return the place of the lines first to last, counted from 1."""
        return Place(
            paper=self.paper,
            page=1,
            box=Box(0.0, float(self.before + first), 0.0, float(self.before + max(first, last))),
        )

    def of(self, *nodes: Node) -> Place:
        """Return the place of the lines from the first of these nodes to the last."""
        return self.at(min(node.first for node in nodes), max(node.last for node in nodes))


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A file: its name and bytes, the factory of its places, and the collector of its images."""

    name: str
    data: bytes
    lines: SourceLines
    images: EmbeddedImages


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The elements of a file in reading order, without ids, order and sections.

    `title`, `authors` and `publication` come from the file's metadata; `creators` are who saved the file, perhaps its
    authors. `pages` are the pages that the places refer to, () if the places are lines.
    """

    elements: Sequence[Element]
    title: str = ""
    authors: Sequence[str] = ()
    creators: Sequence[str] = ()
    problems: Sequence[PageProblem] = ()
    pages: Sequence[Page] = ()
    publication: Publication = UNPUBLISHED


def section_number(text: str) -> str:
    """`4.2` of `4.2 Results`, "" for a heading without an Arabic number."""
    match = _NUMBER.match(text)
    return match[1] if match else ""


def bold_heading_level(text: str) -> int:
    """Return the level of a paragraph in bold that is numbered or named like a section, 0 for any other."""
    named = bool(section_number(text)) or text.lower().strip(" .:") in _NAMED_HEADINGS
    return _BOLD_LEVEL if named and len(text) < _MAX_HEADING_LENGTH else 0


class ElementCollector:
    """Collects the elements of a file in order; inline content becomes a paragraph when a block begins.

    `marker` is the list marker of the next paragraph. With `bold_headings`, paragraphs in bold may be headings.
    """

    def __init__(self, lines: SourceLines, *, bold_headings: bool = False) -> None:
        self.marker = ""
        self._lines = lines
        self._bold_headings = bold_headings
        self._elements: list[Element] = []
        self._after_paragraph: list[Element] = []
        self._inline: list[Node | str] = []
        self._span = (1, 1)

    def finish(self) -> list[Element]:
        """Return all elements, the last paragraph included."""
        self.end_paragraph()
        return self._elements

    def visit_children(self, node: Node, visit: Callable[[Node], None]) -> None:
        """Add a node's text as inline content, and call `visit` for its elements, in document order."""
        line = node.first
        for child in node.children:
            if isinstance(child, str):
                self._add_text(child, line)
                line += child.count("\n")
            else:
                visit(child)
                line = child.last

    def visit_block(self, node: Node, visit: Callable[[Node], None]) -> None:
        """`visit_children` of a node that begins and ends a paragraph."""
        self.end_paragraph()
        self.visit_children(node, visit)
        self.end_paragraph()

    def add_inline(self, node: Node) -> None:
        """Add an element to the paragraph."""
        self._span = (self._span[0] if self._inline else node.first, node.last)
        self._inline.append(node)

    def end_paragraph(self) -> None:
        """End the paragraph, and add the elements that were found inside it."""
        text = inline_text(self._inline)
        if text:
            level = bold_heading_level(text) if self._bold_headings and not self.marker and is_bold(self._inline) else 0
            role: PassageRole = "list" if self.marker else "heading" if level else "paragraph"
            place = self._lines.at(*self._span)
            self._elements.append(draft_passage(self.marker + text, role, place, level=level))
            self.marker = ""
        self._elements.extend(self._after_paragraph)
        self._inline, self._after_paragraph = [], []

    def add_passage(self, node: Node, text: str, role: PassageRole, *, level: int = 0) -> None:
        """End the paragraph and add a passage, unless it is empty."""
        self.end_paragraph()
        if text:
            self.add(draft_passage(text, role, self._lines.of(node), level=level))

    def add(self, *elements: Element) -> None:
        """Add elements; inside a paragraph they follow it."""
        (self._after_paragraph if self._inline else self._elements).extend(elements)

    def add_blocks(self, elements: Sequence[Element]) -> None:
        """End the paragraph and add elements."""
        self.end_paragraph()
        self.add(*elements)

    def _add_text(self, text: str, line: int) -> None:
        if not self._inline and not text.strip():
            return
        leading = text[: len(text) - len(text.lstrip())].count("\n")
        first = self._span[0] if self._inline else line + leading
        last = line + text.rstrip().count("\n") if text.strip() else self._span[1]
        self._span = (first, last)
        self._inline.append(text)
