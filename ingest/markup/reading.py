"""What a reader of one format is given, and what it gives back."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.markup.pictures import Pictures
from ingest.markup.spots import Lines
from paperscope.types import Element, Page, PageProblem

__all__ = ["Reading", "Source"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A file: its name and bytes, the maker of its places, and the collector of its pictures."""

    name: str
    data: bytes
    lines: Lines
    pictures: Pictures


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
