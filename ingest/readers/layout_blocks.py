"""Blocks found on pages by a layout engine (MinerU, docling), and their roles: title, authors, headings."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from ingest.document.caption_wording import FIXED_TITLE, is_references_title, split_number
from ingest.document.drafts import Caption, draft_passage
from ingest.document.line_text import join_lines
from paperscope_core.types import Box, Cell, Passage, PassageRole, Place

__all__ = ["Block", "BlockKind", "Front", "Outline", "TextLine", "find_front", "first_fault", "is_heading"]

BlockKind = Literal[
    "title", "heading", "text", "list", "reference", "code", "equation", "table", "figure", "note", "footnote",
    "furniture", "discarded"
]  # fmt: skip

_ABSTRACT = re.compile(r"abstract\b[\s.:—–-]*", re.IGNORECASE)
_DIGIT = re.compile(r"\d|^[IVX]+$")
# A longer heading is a sentence.
_MAX_HEADING_WORDS = 18
# A longer heading that begins with "Abstract" names something else.
_MAX_ABSTRACT_TITLE = 12


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
        place: Its page, and its box in points.
        more_places: The places of its other parts, if the layout engine joined them.
        lines: Its lines of text; the text inside a figure.
        level: The heading level, 0 if unknown.
        number: The number of an equation, "" if unknown.
        cells: The cells of a table; their rows count from 0.
        header_rows: The number of a table's header rows.
        images: Paths of its images in the folder of the layout engine.
        caption: The caption that the layout engine gave a float; None if captions have to be matched.
        continues: Whether the layout engine joined the block to the text before it.
    """

    kind: BlockKind
    place: Place
    more_places: tuple[Place, ...] = ()
    lines: tuple[TextLine, ...] = ()
    level: int = 0
    number: str = ""
    cells: tuple[Cell, ...] = ()
    header_rows: int = 0
    images: tuple[str, ...] = ()
    caption: Caption | None = None
    continues: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of all parts."""
        return (self.place, *self.more_places)

    @property
    def page(self) -> int:
        """The number of the page."""
        return self.place.page

    @property
    def box(self) -> Box:
        """The box in points."""
        return self.place.box

    @property
    def text(self) -> str:
        """The lines as one text."""
        return join_lines(line.text for line in self.lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class Front:
    """The blocks of the title and of the authors."""

    title: Block | None = None
    authors: tuple[Block, ...] = ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the title and the authors."""
        return (*filter(None, [self.title]), *self.authors)

    @property
    def author_lines(self) -> tuple[str, ...]:
        """The lines of the authors."""
        return tuple(line.text for block in self.authors for line in block.lines)

    def passages(self, title: Passage | None) -> list[Passage]:
        """Return the title, if there is one, and the authors."""
        places = (place for block in self.authors for place in block.places)
        authors = [draft_passage("\n".join(self.author_lines), "authors", *places)] if self.authors else []
        return [*filter(None, [title]), *authors]


def find_front(blocks: Sequence[Block]) -> Front:
    """Find the title, the first heading of the first page, and the authors, between title and first section."""
    if not blocks:
        return Front()
    first = [block for block in blocks if block.page == blocks[0].page and block.kind in ("title", "heading", "text")]
    title = next((block for block in first if block.kind == "title"), None)
    title = title or next((block for block in first if block.kind == "heading" and not _is_section(block)), None)
    if title is None or any(_is_section(block) for block in first[: first.index(title)]):
        return Front()
    after = first[first.index(title) + 1 :]
    end = next((index for index, block in enumerate(after) if _is_section(block) or _ABSTRACT.match(block.text)), None)
    return Front(title=title, authors=tuple(after[:end] if end is not None else ()))


def _is_section(block: Block) -> bool:
    """Return whether a heading certainly begins a section: by its number, if it has a digit (unlike `A Paper`), or
    title."""
    number = split_number(block.text)[0]
    return block.kind == "heading" and bool(_DIGIT.search(number) or FIXED_TITLE.fullmatch(block.text.strip()))


def is_heading(block: Block) -> bool:
    """Return whether a block of the kind "heading" is one, rather than a list item, sentence or introduction of a
    list."""
    text = block.text.strip()
    if block.kind != "heading" or not any(letter.isalpha() for letter in text):
        return False
    if split_number(text)[0]:
        return True
    return text[0] != "•" and not text.endswith((":", ",", ";")) and len(text.split()) <= _MAX_HEADING_WORDS


class Outline:
    """Follows the headings of a document: their levels, and what each says about the text below it.

    Args:
        levels: The levels that the layout engine gave the document's headings, 0 if it gave none.
    """

    def __init__(self, levels: Iterable[int]) -> None:
        self._top = min(filter(None, levels), default=1)
        self._last_numbered = 0
        self._in_abstract = False
        self.in_references = False

    def enter(self, heading: str, *, level: int) -> int:
        """Enter the section below a heading and return the heading's level.

        The level follows from the heading's number; else it is `level`, the layout engine's, counted from the
        document's top level; else 1 for a fixed title, and one below the last numbered heading for others.
        """
        self.in_references = is_references_title(heading)
        self._in_abstract = bool(_ABSTRACT.match(heading)) and len(heading) < _MAX_ABSTRACT_TITLE
        if number := split_number(heading)[0]:
            self._last_numbered = number.count(".") + 1
            return self._last_numbered
        if FIXED_TITLE.fullmatch(heading.strip()):
            return 1
        if self._last_numbered:
            return self._last_numbered + 1
        return max(1, level - self._top + 1) if level else 1

    def role(self, text: str) -> PassageRole:
        """Return "abstract" for text below that heading, and for text that begins with the word before section 1."""
        opens = bool(_ABSTRACT.match(text)) and not self._last_numbered
        return "abstract" if self._in_abstract or opens else "paragraph"


def first_fault(error: ValidationError) -> str:
    """Return the first part of a layout engine's file that is not in its format: the key and the reason."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "the file"
    return f"{key}: {first['msg']}"
