"""Converts plain text to elements: headings, paragraphs, lists, tables and references by their form."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ingest.document.caption_wording import is_references_title
from ingest.document.cell_values import is_value
from ingest.document.drafts import draft_passage
from ingest.document.line_text import join_lines, vocabulary_of
from ingest.readers.character_sets import decode
from ingest.readers.element_collector import Reading, Source, SourceLines, section_number
from ingest.readers.inline_text import collapse_spaces
from ingest.readers.table_grid import MarkupCell, table_of_rows
from paperscope_core.types import Element, Passage, PassageRole, Table

__all__ = ["read_text"]

_VALUES_SUFFIXES = (".csv", ".tsv")
_SNIFFED = 4096
_LIST_ITEM = re.compile(r"\s*(?:[•●◦▪■–‣∙·*+]|[-—]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]|\[\d{1,3}\])\s+\S")
# If a quarter of the lines is longer, the text is not wrapped.
_UNWRAPPED_LENGTH = 200
_RULE = re.compile(r"(?>[\s|+:=–—─━═-]*?[=–—─━═-]{3})[\s|+:=–—─━═-]*+")
_GAP = re.compile(r"\s{2,}")
_FIELD = re.compile(r"\S+(?: \S+)*")
_UNDERLINE = re.compile(r"\s*(={3,}|-{3,}|~{3,}|\*{3,}|_{3,})\s*")
_FIXED_TITLE = re.compile(
    r"(?:abstract|summary|introduction|references|bibliography|works cited|acknowledge?ments?|conclusions?|discussion|"
    r"results|methods|limitations|related work|background|appendix)[.:]?",
    re.IGNORECASE,
)
_ROMAN_NUMBER = re.compile(r"[IVX]{1,5}\.\s+\S")
_ENTRY = re.compile(r"\s*(?:\[[^\]\s]{1,12}\]|\d{1,3}\.)\s+\S")
_YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
# Longer lines are running text.
_MAX_HEADING_LENGTH = 90
_MAX_TITLE_LENGTH = 220
_MAX_TITLE_LINES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class _Block:
    """Consecutive lines; `first` is the number of the first one, counted from 1."""

    first: int
    lines: tuple[str, ...]

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + len(self.lines) - 1

    def part(self, start: int, end: int) -> "_Block":
        """Return the lines from `start` to before `end`, counted within the block."""
        return _Block(first=self.first + start, lines=self.lines[start:end])

    def cut(self, starts: list[int]) -> list["_Block"]:
        """Return the parts that begin at these lines, and at the first."""
        at = sorted({0, *starts})
        return [self.part(start, end) for start, end in zip(at, [*at[1:], len(self.lines)], strict=True)]


def read_text(source: Source) -> Reading:
    """Read a text. Raise `PaperFileError` if the file is binary."""
    text, problems = decode(source.data, name=source.name)
    if source.name.lower().endswith(_VALUES_SUFFIXES) and (table := _values_table(text, lines=source.lines)):
        return Reading(elements=[table], problems=problems)
    blocks = _blocks_of(text)
    return Reading(elements=_BlockReader(source.lines, blocks).elements(blocks), problems=problems)


def _values_table(text: str, *, lines: SourceLines) -> Table | None:
    """Return the table of a file of separated values, None if it has no columns; a line of one value above the columns
    is its caption."""
    try:
        dialect = csv.Sniffer().sniff(text[:_SNIFFED], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    reader = csv.reader(text.splitlines(keepends=True), dialect)
    try:
        rows = [(reader.line_num, [collapse_spaces(value) for value in row]) for row in reader]
    except csv.Error:
        return None
    rows = [(line, values) for line, values in rows if any(values)]
    titled = len(rows) > 1 and sum(map(bool, rows[0][1])) == 1 < sum(map(bool, rows[1][1]))
    head, body = (rows[:1], rows[1:]) if titled else ([], rows)
    if max((len(values) for _, values in body), default=0) < 2:
        return None
    cells = [
        [MarkupCell(text=value, place=lines.at(line, line), is_header=not number) for value in values]
        for number, (line, values) in enumerate(body)
    ]
    table = table_of_rows(cells, lines.at(body[0][0], body[-1][0]), head=1)
    return replace(table, caption=" ".join(filter(None, head[0][1])), caption_place=lines.at(1, 1)) if head else table


class _BlockReader:
    """Converts blocks to elements in order; a single-use object."""

    def __init__(self, lines: SourceLines, blocks: Sequence[_Block]) -> None:
        self._lines = lines
        self._words = vocabulary_of(line.strip() for block in blocks for line in block.lines)
        self._references = False

    def elements(self, blocks: Sequence[_Block]) -> list[Element]:
        title = self._title(blocks[0]) if len(blocks) > 1 else None
        rest = blocks[1:] if title else blocks
        return [*filter(None, [title]), *(element for block in rest for element in self._elements(block))]

    def _elements(self, block: _Block) -> Iterator[Element]:
        heading, size = self._heading(block)
        if heading:
            yield heading
            if size < len(block.lines):
                yield from self._elements(block.part(size, len(block.lines)))
        elif self._references:
            yield from (self._paragraph(entry) for entry in _entries(block))
        elif table := _text_table(block, lines=self._lines):
            yield table
        elif _LIST_ITEM.match(block.lines[0]):
            starts = [number for number, line in enumerate(block.lines) if _LIST_ITEM.match(line)]
            yield from (self._paragraph(item, role="list") for item in block.cut(starts))
        elif not _UNDERLINE.fullmatch(block.lines[0]) or len(block.lines) > 1:
            yield self._paragraph(block)

    def _heading(self, block: _Block) -> tuple[Passage | None, int]:
        """Return the heading at the beginning of a block, and its number of lines."""
        text = collapse_spaces(block.lines[0])
        ruled = len(block.lines) > 1 and bool(_UNDERLINE.fullmatch(block.lines[1]))
        alone = len(block.lines) == 1
        if len(text) > _MAX_HEADING_LENGTH or not any(letter.isalpha() for letter in text) or "|" in text:
            return None, 0
        number = section_number(text)
        level = number.count(".") + 1 if number else 1
        if ruled:
            level = level if number else (1 if block.lines[1].strip()[0] in "=*" else 2)
        elif not (_FIXED_TITLE.fullmatch(text) or (alone and _is_heading(text, number))):
            return None, 0
        self._references = is_references_title(text)
        heading = self._passage(block.part(0, 1), text, "heading", level=level)
        return heading, 2 if ruled else 1

    def _title(self, block: _Block) -> Passage | None:
        """Return the title that the first block of a file is, None for other text."""
        lines = [line for line in block.lines if not _UNDERLINE.fullmatch(line)]
        text = " ".join(map(collapse_spaces, lines))
        if not 1 <= len(lines) <= _MAX_TITLE_LINES or len(text) > _MAX_TITLE_LENGTH:
            return None
        other = (
            not any(letter.isalpha() for letter in text)
            or _FIXED_TITLE.fullmatch(text)
            or section_number(text)
            or _LIST_ITEM.match(text)
            or text.endswith((".", ",", ";", ":"))
            or _text_table(block, lines=self._lines)
        )
        return None if other else self._passage(block, text, "title")

    def _paragraph(self, block: _Block, *, role: PassageRole = "paragraph") -> Passage:
        return self._passage(block, join_lines((collapse_spaces(line) for line in block.lines), self._words), role)

    def _passage(self, block: _Block, text: str, role: PassageRole, *, level: int = 0) -> Passage:
        return draft_passage(text, role, self._lines.at(block.first, block.last), level=level)


def _is_heading(text: str, number: str) -> bool:
    """Return whether a separate line is a heading: numbered or in capitals, and not a sentence."""
    if text.endswith((".", ",", ";")) or len(text) < 3:
        return False
    letters = [letter for letter in text if letter.isalpha()]
    capitals = len(letters) > 3 and all(letter.isupper() for letter in letters)
    words = text.split()
    numbered = bool(number) and len(words) > 1 and words[1][:1].isupper()
    return capitals or numbered or bool(_ROMAN_NUMBER.match(text))


def _entries(block: _Block) -> list[_Block]:
    """Return the entries of a bibliography in a block: by marks, by hanging indents, or one per line."""
    marked = [number for number, line in enumerate(block.lines) if _ENTRY.match(line)]
    if marked:
        return block.cut(marked)
    indents = [len(line) - len(line.lstrip()) for line in block.lines]
    if max(indents) > min(indents) and indents[0] == min(indents):
        return block.cut([number for number, indent in enumerate(indents) if indent == min(indents)])
    if len(block.lines) > 1 and all(_YEAR.search(line) and line.strip()[0].isupper() for line in block.lines):
        return block.cut(list(range(len(block.lines))))
    return [block]


def _blocks_of(text: str) -> list[_Block]:
    """Return the blocks between blank lines; if lines are not wrapped, every line is a block."""
    blocks = list(_parted(text))
    lines = [line for block in blocks for line in block.lines]
    if 4 * sum(len(line) > _UNWRAPPED_LENGTH for line in lines) < len(lines):
        return blocks
    return [block.part(at, at + 1) for block in blocks for at in range(len(block.lines))]


def _parted(text: str) -> Iterator[_Block]:
    lines = [(number, line.replace("\f", " ").rstrip()) for number, line in enumerate(text.split("\n"), start=1)]
    for has_text, group in groupby(lines, key=lambda item: bool(item[1].strip())):
        if has_text:
            numbers, own = zip(*group, strict=True)
            yield _Block(first=numbers[0], lines=own)


def _text_table(block: _Block, *, lines: SourceLines) -> Table | None:
    """Return the table in a block: fields between bars or tabs, or aligned columns. Only unmistakable tables are
    found."""
    body = [(number, line) for number, line in enumerate(block.lines) if not _RULE.fullmatch(line)]
    if len(body) < 2:
        return None
    texts = [line for _, line in body]
    rows = _separated(texts, "|") or _separated(texts, "\t") or _aligned(texts)
    if not rows:
        return None
    ruled = [number for number, line in enumerate(block.lines) if _RULE.fullmatch(line) and number > body[0][0]]
    head = sum(number < ruled[0] for number, _ in body) if ruled else 0
    marked = [
        [MarkupCell(text=text, place=lines.at(block.first + number, block.first + number)) for text in row]
        for (number, _), row in zip(body, rows, strict=True)
    ]
    place = lines.at(block.first, block.last)
    return table_of_rows(marked, place, head=head if head < len(body) else 0)


def _separated(lines: list[str], mark: str) -> list[list[str]]:
    """Return the rows of `a | b | c`, if every line has the same number of marks."""
    inner = [line.strip().strip("|") if mark == "|" else line for line in lines]
    if len(counts := {line.count(mark) for line in inner}) != 1 or 0 in counts:
        return []
    if mark == "|":
        inner = [line.strip().removeprefix("|").removesuffix("|") for line in lines]
    return [[field.strip() for field in line.split(mark)] for line in inner]


def _aligned(lines: list[str]) -> list[list[str]]:
    """Return the rows of at least three lines with at least three aligned columns each, with numbers among them."""
    if len(lines) < 3 or any("\t" in line for line in lines):
        return []
    spans = [[match.span() for match in _FIELD.finditer(line)] for line in lines]
    width = len(spans[0])
    if width < 3 or any(len(row) != width for row in spans):
        return []
    for column in range(width):
        starts = {row[column][0] for row in spans[1:]}
        ends = {row[column][1] for row in spans[1:]}
        first, last = spans[0][column]
        if (len(starts) > 1 and len(ends) > 1) or last <= min(starts) or first >= max(ends):
            return []
    rows = [_GAP.split(line.strip()) for line in lines]
    return rows if any(is_value(text) for row in rows[1:] for text in row[1:]) else []
