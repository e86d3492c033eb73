"""Plain text to elements."""

import re
from collections.abc import Iterator, Sequence

from ingest.markup.decoding import decode
from ingest.markup.inline import collapsed
from ingest.markup.levels import section_number
from ingest.markup.reading import Reading, Source
from ingest.markup.text.blocks import Block, blocks_of, starts_item
from ingest.markup.text.tables import table_of
from ingest.pdf.text.heading_styles import is_references_title
from ingest.pdf.text.hyphens import Vocabulary, join_lines, vocabulary_of
from paperscope.types import Element, Passage, PassageRole

__all__ = ["read_text"]

_UNDERLINE = re.compile(r"\s*(={3,}|-{3,}|~{3,}|\*{3,}|_{3,})\s*")
_NAMED = re.compile(
    r"(?:abstract|summary|introduction|references|bibliography|works cited|acknowledge?ments?|conclusions?|discussion|"
    r"results|methods|limitations|related work|background|appendix)[.:]?",
    re.IGNORECASE,
)
_ROMAN = re.compile(r"[IVX]{1,5}\.\s+\S")
_ENTRY = re.compile(r"\s*(?:\[[^\]\s]{1,12}\]|\d{1,3}\.)\s+\S")
_YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
_LONGEST_HEADING = 90
_LONGEST_TITLE = 220


def read_text(source: Source) -> Reading:
    """Read a text. Raises `PaperFileError` for a file that is none."""
    text, problems = decode(source.data, name=source.name)
    return Reading(elements=_Reader(source).read(blocks_of(text)), problems=problems)


class _Reader:
    def __init__(self, source: Source) -> None:
        self._lines = source.lines
        self._words = Vocabulary()
        self._references = False

    def read(self, blocks: Sequence[Block]) -> list[Element]:
        self._words = vocabulary_of(line.strip() for block in blocks for line in block.lines)
        elements: list[Element] = []
        rest = list(blocks)
        if len(rest) > 1 and self._is_title(rest[0]):
            lines = [line for line in rest[0].lines if not _UNDERLINE.fullmatch(line)]
            elements.append(self._passage(rest[0], " ".join(map(collapsed, lines)), "title"))
            rest = rest[1:]
        for block in rest:
            elements.extend(self._elements(block))
        return elements

    def _elements(self, block: Block) -> Iterator[Element]:
        heading, size = self._heading(block)
        if heading:
            yield heading
            if size < len(block.lines):
                yield from self._elements(block.part(size, len(block.lines)))
        elif self._references:
            yield from (self._paragraph(entry) for entry in _entries(block))
        elif table := table_of(block, lines=self._lines):
            yield table
        elif any(map(starts_item, block.lines[:1])):
            starts = [number for number, line in enumerate(block.lines) if starts_item(line)]
            yield from (self._paragraph(item, role="list") for item in block.cut(starts))
        elif not _UNDERLINE.fullmatch(block.lines[0]) or len(block.lines) > 1:
            yield self._paragraph(block)

    def _heading(self, block: Block) -> tuple[Passage | None, int]:
        """The heading that opens a block, and how many lines it takes."""
        text = collapsed(block.lines[0])
        ruled = len(block.lines) > 1 and bool(_UNDERLINE.fullmatch(block.lines[1]))
        alone = len(block.lines) == 1
        if len(text) > _LONGEST_HEADING or not any(letter.isalpha() for letter in text) or "|" in text:
            return None, 0
        number = section_number(text)
        level = number.count(".") + 1 if number else 1
        if ruled:
            level = level if number else (1 if block.lines[1].strip()[0] in "=*" else 2)
        elif not (_NAMED.fullmatch(text) or (alone and _is_heading(text, number))):
            return None, 0
        self._references = is_references_title(text)
        heading = self._passage(block.part(0, 1), text, "heading", level=level)
        return heading, 2 if ruled else 1

    def _is_title(self, block: Block) -> bool:
        """Whether a file's first block reads like a title."""
        lines = [line for line in block.lines if not _UNDERLINE.fullmatch(line)]
        text = " ".join(map(collapsed, lines))
        if not lines or len(lines) > 3 or len(text) > _LONGEST_TITLE or not any(letter.isalpha() for letter in text):
            return False
        opens = (
            _NAMED.fullmatch(text) or section_number(text) or starts_item(text) or text.endswith((".", ",", ";", ":"))
        )
        return not opens and table_of(block, lines=self._lines) is None

    def _paragraph(self, block: Block, *, role: PassageRole = "paragraph") -> Passage:
        return self._passage(block, join_lines((collapsed(line) for line in block.lines), self._words), role)

    def _passage(self, block: Block, text: str, role: PassageRole, *, level: int = 0) -> Passage:
        place = self._lines.at(block.first, block.last)
        return Passage(id="", place=place, order=0, text=text, role=role, level=level)


def _is_heading(text: str, number: str) -> bool:
    """Whether a line that stands alone is a heading: numbered, or in capitals, and no sentence."""
    if text.endswith((".", ",", ";")) or len(text) < 3:
        return False
    letters = [letter for letter in text if letter.isalpha()]
    capitals = len(letters) > 3 and all(letter.isupper() for letter in letters)
    words = text.split()
    numbered = bool(number) and len(words) > 1 and words[1][:1].isupper()
    return capitals or numbered or bool(_ROMAN.match(text))


def _entries(block: Block) -> list[Block]:
    """The entries of a bibliography in a block: by their marks, by a hanging indent, or one a line."""
    marked = [number for number, line in enumerate(block.lines) if _ENTRY.match(line)]
    if marked:
        return block.cut(marked)
    indents = [len(line) - len(line.lstrip()) for line in block.lines]
    if max(indents) > min(indents) and indents[0] == min(indents):
        return block.cut([number for number, indent in enumerate(indents) if indent == min(indents)])
    if len(block.lines) > 1 and all(_YEAR.search(line) and line.strip()[0].isupper() for line in block.lines):
        return block.cut(list(range(len(block.lines))))
    return [block]
