"""Collects the elements of a file in order: running text becomes a paragraph where something else begins."""

from collections.abc import Callable
from dataclasses import replace

from ingest.markup.inline import all_bold, inline_text
from ingest.markup.levels import section_number
from ingest.markup.nodes import Node
from ingest.markup.spots import Lines
from paperscope.types import Element, Passage, PassageRole

__all__ = ["Flow"]

_RUN_IN = frozenset("abstract references bibliography acknowledgements acknowledgments".split())
_LONGEST_HEADING = 100
_BOLD_LEVEL = 7


class Flow:
    """What was read so far. `mark` is the list mark of the paragraph that comes next, `role` what paragraphs are.

    With `bold_headings` a paragraph in bold that is numbered or named like a section is a heading.
    """

    def __init__(self, lines: Lines, *, bold_headings: bool = False) -> None:
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
        return named and len(text) < _LONGEST_HEADING and all_bold(self._text)

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
