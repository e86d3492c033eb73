"""The seam between a PDF library and our rules: what a page prints, as plain values.

All coordinates are in points from the top left corner of the page as a reader sees it, rotation applied.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from paperscope.types import Box

__all__ = [
    "LOCKED",
    "Backend",
    "Char",
    "Document",
    "HorizontalRule",
    "OutlineEntry",
    "PageContent",
    "PageReadError",
    "VerticalRule",
]

LOCKED = "Send its password along (`password`; on the command line --password), or save a copy without one."


class PageReadError(Exception):
    """A page that the PDF library can't read; the message says why."""


class Char(NamedTuple):
    """One printed, visible character; `text` may hold two letters where a ligature was mended.

    `direction` says which way its line runs, in quarter turns clockwise as the reader sees the page: 0 to the right, 1
    downwards, 2 to the left (upside down), 3 upwards; text at any other angle (a watermark) is no part of a page's
    characters. `x0`, `x1` and `baseline` are measured as if the page were turned so that the character stands upright
    (see `ingest.pdf.page.turning`); turning the page changes the direction and nothing else.

    A NamedTuple for speed: a paper has a hundred thousand of them.
    """

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    font: str
    bold: bool
    italic: bool
    direction: int = 0


class HorizontalRule(NamedTuple):
    """A thin horizontal line."""

    x0: float
    x1: float
    y: float


class VerticalRule(NamedTuple):
    """A thin vertical line."""

    x: float
    y0: float
    y1: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PageContent:
    """What one page prints. `number` counts from 1; `drawings` are the boxes of vector paths and of
    text at odd angles, `images` of pictures.

    `turns` is not 0 where the page was turned for reading (see `ingest.pdf.page.views`): everything here is then
    measured on the turned page. `notes` say what a reader should know of how the page was read; each becomes a
    `PageProblem`.
    """

    number: int
    width: float
    height: float
    chars: Sequence[Char] = ()
    horizontal: Sequence[HorizontalRule] = ()
    vertical: Sequence[VerticalRule] = ()
    fills: Sequence[Box] = ()
    images: Sequence[Box] = ()
    drawings: Sequence[Box] = ()
    turns: int = 0
    notes: tuple[str, ...] = ()

    @property
    def upright(self) -> Sequence[Char]:
        """The characters that stand upright."""
        return [char for char in self.chars if char.direction == 0]


@dataclass(frozen=True, kw_only=True, slots=True)
class OutlineEntry:
    """A bookmark: its level (from 1), title and page (from 1; 0 if it names none)."""

    level: int
    title: str
    page: int


class Document(Protocol):
    """An opened file."""

    @property
    def page_count(self) -> int:
        """How many pages the file has; 0 where they can't be found."""
        ...

    @property
    def title(self) -> str:
        """The title in the file's metadata, "" if none."""
        ...

    @property
    def authors(self) -> str:
        """The authors in the file's metadata, as written there."""
        ...

    @property
    def repaired(self) -> bool:
        """Whether the library had to repair the file, as far as it can tell; parts of it may be missing."""
        ...

    @property
    def outline(self) -> Sequence[OutlineEntry]:
        """The bookmarks, empty if none or unreadable."""
        ...

    def read(self, number: int) -> PageContent:
        """The content of a page, counted from 1. Raises `PageReadError`."""
        ...

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        """A PNG for each box of a page, turned so that text of the direction `turns` stands upright.

        Raises `PageReadError`.
        """
        ...

    def cells(self, number: int, box: Box) -> Sequence[Box]:
        """The cells of the table that the library itself sees in a box of a page, empty if it sees or seeks none.

        Raises `PageReadError`.
        """
        ...


class Backend(Protocol):
    """A PDF library."""

    def open(self, data: bytes, *, name: str, password: str | None) -> AbstractContextManager[Document]:
        """Open a file's bytes; `name` is for messages. Raises `PaperFileError`."""
        ...
