"""Blocks found on pages by a layout engine (MinerU, docling), and their roles: title, authors, headings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ingest.document.headings import split_number
from ingest.document.line_text import join_lines
from paperscope_core.types import Box

__all__ = ["Block", "BlockKind", "Front", "TextLine", "find_front", "heading_level", "is_abstract", "is_heading"]


BlockKind = Literal[
    "title", "heading", "text", "list", "reference", "code", "equation", "table", "figure", "note", "footnote",
    "furniture", "discarded"
]  # fmt: skip

_ABSTRACT = re.compile(r"abstract\b[\s.:—–-]*", re.IGNORECASE)
_DIGIT = re.compile(r"\d|^[IVX]+$")
# A longer heading is a sentence.
_MAX_HEADING_WORDS = 18
_FIXED_TITLE = re.compile(
    r"(?:abstract|references|bibliography|acknowledge?ments?|appendi(?:x|ces)|conclusions?|limitations|introduction|"
    r"discussion|ethics statement|funding|data availability|supplementary materials?)[.:]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextLine:
    """A line of text; `starts` is true if a list item begins with it."""

    text: str
    box: Box
    starts: bool = False


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Block:
    """A part of a page.

    Attributes:
        kind: Its kind; a "note" is a caption or footnote of some float.
        page: The index of the page, from 0.
        box: Its box in points.
        lines: Its lines of text.
        level: The heading level, 0 if unknown.
        html: A table in HTML.
        images: Paths of images in MinerU's folder.
        continues: Whether the layout engine joined the block to the text before it.
    """

    kind: BlockKind
    page: int
    box: Box
    lines: tuple[TextLine, ...] = ()
    level: int = 0
    html: str = ""
    images: tuple[str, ...] = ()
    continues: bool = False

    @property
    def text(self) -> str:
        """The lines as one text."""
        return join_lines(line.text for line in self.lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class Front:
    """The blocks of the title and of the authors."""

    title: Block | None
    authors: tuple[Block, ...]


def find_front(blocks: Sequence[Block]) -> Front:
    """Finds the title, the first heading of the first page, and the authors, between title and first section."""
    if not blocks:
        return Front(title=None, authors=())
    first = [block for block in blocks if block.page == blocks[0].page and block.kind in ("title", "heading", "text")]
    title = next((block for block in first if block.kind == "title"), None)
    title = title or next((block for block in first if block.kind == "heading" and not _is_section(block)), None)
    if title is None or any(_is_section(block) for block in first[: first.index(title)]):
        return Front(title=None, authors=())
    after = first[first.index(title) + 1 :]
    end = next((index for index, block in enumerate(after) if _is_section(block) or is_abstract(block.text)), None)
    return Front(title=title, authors=tuple(after[:end]) if end is not None else ())


def _is_section(block: Block) -> bool:
    """Whether a heading certainly begins a section: by its number, if it has a digit (unlike `A Paper`), or title."""
    number = split_number(block.text)[0]
    return block.kind == "heading" and bool(_DIGIT.search(number) or _FIXED_TITLE.fullmatch(block.text.strip()))


def is_abstract(text: str) -> bool:
    """Whether a text begins with the word "Abstract"."""
    return bool(_ABSTRACT.match(text))


def is_heading(block: Block) -> bool:
    """Whether a block of the kind "heading" is one, rather than a list item, sentence or introduction of a list."""
    text = block.text.strip()
    if block.kind != "heading" or not any(letter.isalpha() for letter in text):
        return False
    if split_number(text)[0]:
        return True
    return text[0] != "•" and not text.endswith((":", ",", ";")) and len(text.split()) <= _MAX_HEADING_WORDS


def heading_level(text: str, *, given: int, least: int, last: int) -> int:
    """The level of a heading: by its number; else `given`, that of the layout engine, counted from the document's
    `least`; else 1 for a fixed title, and one below the `last` numbered heading for others."""
    number = split_number(text)[0]
    if number:
        return number.count(".") + 1
    if _FIXED_TITLE.fullmatch(text.strip()) or not last:
        return max(1, given - least + 1) if given and not _FIXED_TITLE.fullmatch(text.strip()) else 1
    return last + 1
