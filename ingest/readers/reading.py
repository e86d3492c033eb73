"""What a reader is given and gives back, and the collector of its elements."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ingest.readers.embedded_images import EmbeddedImages
from ingest.readers.inline_text import inline_text, is_bold
from ingest.readers.markup_tree import Node
from paperscope_core.types import Box, Element, Page, PageProblem, Passage, PassageRole, Place

__all__ = ["ElementCollector", "Reading", "Source", "SourceLines", "normalize_levels", "section_number"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceLines:
    """Makes the places of one paper's lines."""

    paper: str

    def at(self, first: int, last: int) -> Place:
        """Lines first to last, from 1."""
        return Place(paper=self.paper, page=1, box=Box(0.0, float(first), 0.0, float(max(first, last))))

    def of(self, *nodes: Node) -> Place:
        """The lines from the first of these nodes to the last."""
        return self.at(min(node.first for node in nodes), max(node.last for node in nodes))


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A file: its name and bytes, the maker of its places, and the collector of its pictures."""

    name: str
    data: bytes
    lines: SourceLines
    pictures: EmbeddedImages


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The elements of a file in reading order, without ids, order and sections.

    `title` and `authors` are what the file says of itself, "" and () if nothing. `pages` are the pages on which the
    places lie, () where they are lines.
    """

    elements: Sequence[Element]
    title: str = ""
    authors: Sequence[str] = ()
    problems: Sequence[PageProblem] = ()
    pages: Sequence[Page] = ()


_NUMBER = re.compile(r"(?:(?:Appendix|Section)\s+)?(\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,3})[.:)]?\s+\S")
_DEEPEST = 9


def section_number(text: str) -> str:
    """`4.2` of `4.2 Results`, "" for a heading without a number of digits."""
    match = _NUMBER.match(text)
    return match[1] if match else ""


def normalize_levels(elements: Sequence[Element]) -> list[Element]:
    """The elements with the highest level of heading at 1; so is that of the abstract, however small it is set.

    If all headings have one level, as some converters write them, those with a number of several parts go deeper.
    """
    headings = [
        element
        for element in elements
        if isinstance(element, Passage) and element.role == "heading" and not _is_abstract(element)
    ]
    top = min((heading.level for heading in headings), default=1)
    flat = all(heading.level == top for heading in headings)
    result: list[Element] = []
    for element in elements:
        if isinstance(element, Passage) and element.role == "heading":
            depth = section_number(element.text).count(".") if flat else element.level - top
            result.append(replace(element, level=1 if _is_abstract(element) else min(depth + 1, _DEEPEST)))
        else:
            result.append(element)
    return result


def _is_abstract(passage: Passage) -> bool:
    return passage.text.lower().strip(" .:—") == "abstract"


_RUN_IN = frozenset("abstract references bibliography acknowledgements acknowledgments".split())
_LONGEST_HEADING = 100
_BOLD_LEVEL = 7


class ElementCollector:
    """What was read so far. `mark` is the list mark of the paragraph that comes next, `role` what paragraphs are.

    With `bold_headings` a paragraph in bold that is numbered or named like a section is a heading.
    """

    def __init__(self, lines: SourceLines, *, bold_headings: bool = False) -> None:
        self.mark = ""
        self.role: PassageRole = "paragraph"
        self._lines = lines
        self._bold_headings = bold_headings
        self._out: list[Element] = []
        self._late: list[Element] = []
        self._text: list[Node | str] = []
        self._span = (1, 1)

    @property
    def running(self) -> bool:
        """Whether a paragraph is under way."""
        return bool(self._text)

    def finished(self) -> list[Element]:
        """Everything, the last paragraph included."""
        self.flush()
        return self._out

    def through(self, node: Node, visit: Callable[[Node], None]) -> None:
        """Take a node's text as running text, and let `visit` see its elements, in their order."""
        line = node.first
        for child in node.children:
            if isinstance(child, str):
                self._add(child, line)
                line += child.count("\n")
            else:
                visit(child)
                line = child.last

    def run(self, node: Node) -> None:
        """Take an element into the paragraph."""
        self._extend(node, node.first, node.last)

    def flush(self) -> None:
        """End the paragraph; what was to come after it follows."""
        text = inline_text(self._text)
        if text:
            place = self._lines.at(*self._span)
            role: PassageRole = "list" if self.mark else self.role
            passage = Passage(id="", place=place, order=0, text=self.mark + text, role=role)
            heading = self._bold_headings and role == "paragraph" and self._is_heading(text)
            self._out.append(replace(passage, role="heading", level=_BOLD_LEVEL) if heading else passage)
            self.mark = ""
        self._out.extend(self._late)
        self._text, self._late = [], []

    def passage(self, node: Node, text: str, role: PassageRole, *, level: int = 0) -> None:
        """End the paragraph and add a passage, unless it is empty."""
        self.flush()
        if text:
            self.add(Passage(id="", place=self._lines.of(node), order=0, text=text, role=role, level=level))

    def add(self, *elements: Element) -> None:
        """Add elements where the file is; after the paragraph if one is under way."""
        (self._late if self._text else self._out).extend(elements)

    def _is_heading(self, text: str) -> bool:
        named = bool(section_number(text)) or text.lower().strip(" .:") in _RUN_IN
        return named and len(text) < _LONGEST_HEADING and is_bold(self._text)

    def _add(self, text: str, line: int) -> None:
        if not self._text and not text.strip():
            return
        lead = text[: len(text) - len(text.lstrip())].count("\n")
        self._extend(text, line + lead, line + text.rstrip().count("\n"))

    def _extend(self, item: Node | str, first: int, last: int) -> None:
        self._span = (
            self._span[0] if self._text else first,
            last if not isinstance(item, str) or item.strip() else self._span[1],
        )
        self._text.append(item)
