"""What a page prints, as plain values, and the protocol of a library that reads pages."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import add
from typing import NamedTuple, Protocol, TypeAlias, cast, overload

from paperscope_core.types import Box

__all__ = [
    "LOCKED",
    "Backend",
    "Char",
    "CharTable",
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


_NUMBERS = 4
# Without Python code for each character, of which a paper has a hundred thousand.
_char = cast("Callable[[object], Char]", partial(tuple.__new__, Char))
_Style: TypeAlias = tuple[str, bool, bool, int]


class CharTable(Sequence[Char]):
    """The same characters as the sequence it was made of, held as columns and made anew when they are asked for."""

    __slots__ = ("_numbers", "_styles", "_texts")

    def __init__(self, chars: Sequence[Char]) -> None:
        known: dict[_Style, _Style] = {}
        styles = [(char.font, char.bold, char.italic, char.direction) for char in chars]
        numbers = ((char.x0, char.x1, char.baseline, char.size) for char in chars)
        self._texts = tuple(char.text for char in chars)
        self._numbers = array("d", chain.from_iterable(numbers))
        self._styles = tuple(known.setdefault(style, style) for style in styles)

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[Char]:
        numbers = iter(self._numbers)
        heads = zip(self._texts, numbers, numbers, numbers, numbers, strict=True)
        return map(_char, map(add, heads, self._styles))

    @overload
    def __getitem__(self, index: int) -> Char: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Char]: ...
    def __getitem__(self, index: int | slice) -> Char | Sequence[Char]:
        if isinstance(index, slice):
            return tuple(self)[index]
        at = range(len(self))[index]
        x0, x1, baseline, size = self._numbers[_NUMBERS * at : _NUMBERS * (at + 1)].tolist()
        return Char(self._texts[at], x0, x1, baseline, size, *self._styles[at])
