"""The roles of blocks that a layout engine found on pages: title, authors, headings with their levels."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.document.headings import is_references_title, split_number
from ingest.readers.mineru.blocks import Block

__all__ = ["Front", "find_front", "heading_level", "is_abstract", "is_heading", "opens_references"]


_ABSTRACT = re.compile(r"abstract\b[\s.:—–-]*", re.IGNORECASE)
_DIGIT = re.compile(r"\d|^[IVX]+$")
_MOST_WORDS = 18
_ALONE = re.compile(
    r"(?:abstract|references|bibliography|acknowledge?ments?|appendi(?:x|ces)|conclusions?|limitations|introduction|"
    r"discussion|ethics statement|funding|data availability|supplementary materials?)[.:]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Front:
    """The head of the paper: the block of its title, if it has one, and those of its authors."""

    title: Block | None
    authors: tuple[Block, ...]


def find_front(blocks: Sequence[Block]) -> Front:
    """The title is the first heading of the first page; what stands from there to the first section names authors."""
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
    """Whether a heading opens a section for sure: its number has a digit (`A Paper` has none), or its name is fixed."""
    number = split_number(block.text)[0]
    return block.kind == "heading" and bool(_DIGIT.search(number) or _ALONE.fullmatch(block.text.strip()))


def is_abstract(text: str) -> bool:
    """Whether a text begins with the word that heads an abstract."""
    return bool(_ABSTRACT.match(text))


def opens_references(text: str) -> bool:
    """Whether a heading opens the bibliography."""
    return is_references_title(text)


def is_heading(block: Block) -> bool:
    """Whether what MinerU calls a title is one: no item of a list, no sentence, nothing that announces a list."""
    text = block.text.strip()
    if block.kind != "heading" or not any(letter.isalpha() for letter in text):
        return False
    if split_number(text)[0]:
        return True
    return text[0] != "•" and not text.endswith((":", ",", ";")) and len(text.split()) <= _MOST_WORDS


def heading_level(text: str, *, given: int, least: int, last: int) -> int:
    """The level of a heading: by its number, else MinerU's `given` counted from the `least` of the document, else by
    its place: a fixed name stands at the top, another one below the `last` numbered heading."""
    number = split_number(text)[0]
    if number:
        return number.count(".") + 1
    if _ALONE.fullmatch(text.strip()) or not last:
        return max(1, given - least + 1) if given and not _ALONE.fullmatch(text.strip()) else 1
    return last + 1
