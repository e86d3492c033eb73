"""The contents of a page as plain values, and the protocol of libraries that read pages.

All coordinates are in points from the top left corner of the page as a reader sees it, with rotation applied.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import add
from typing import NamedTuple, Protocol, TypeAlias, cast, overload

from paperscope_core.errors import PaperLockedError
from paperscope_core.types import Box

__all__ = [
    "LOADING_TIMES",
    "Backend",
    "Char",
    "CharTable",
    "Document",
    "HorizontalRule",
    "OutlineEntry",
    "PageContent",
    "PageGrid",
    "PageReadError",
    "VerticalRule",
    "locked_error",
]

LOADING_TIMES = 4.0  # Time limits of a page that loading a library may take.

_NUMBERS = 4  # x0, x1, baseline and size are stored as numbers.
_Style: TypeAlias = tuple[str, bool, bool, int]


class PageReadError(Exception):
    """A page can't be read; the message says why."""


class Char(NamedTuple):
    """A visible character; `text` has several letters where a ligature was resolved.

    `direction` counts the quarter turns clockwise of its line as the reader sees the page: 0 runs to the right, 1 down,
    2 to the left, 3 up. Text at other angles (a watermark) is left out. `x0`, `x1` and `baseline` are measured as if
    the page were turned so that the character is upright (see `ingest.document.geometry`).

    A NamedTuple for speed: a paper has a hundred thousand characters.
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

    @property
    def width(self) -> float:
        """The length of the line."""
        return self.x1 - self.x0


class VerticalRule(NamedTuple):
    """A thin vertical line."""

    x: float
    y0: float
    y1: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PageContent:
    """The contents of a page. `number` counts from 1; `fills` are boxes filled with a colour, `images` boxes of
    pictures, `drawings` boxes of vector paths and of text at odd angles.

    `turns` is not 0 if the page was turned for reading (see `reading_views`); all coordinates are then on the turned
    page. Each of the `notes`, which are about the page's text, becomes a `PageProblem`.
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
        """The upright characters."""
        return [char for char in self.chars if char.direction == 0]

    @property
    def has_ink(self) -> bool:
        """Whether anything is printed on the page."""
        return bool(self.chars or self.images or self.drawings)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageGrid:
    """A table as a layout model reads it: its box, and the x and y of the edges between its columns and its rows."""

    box: Box
    xs: tuple[float, ...]
    ys: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OutlineEntry:
    """A bookmark: its level (from 1), its title and its page (from 1; 0 if it names none)."""

    level: int
    title: str
    page: int


class Document(Protocol):
    """An open file."""

    @property
    def page_count(self) -> int:
        """The number of pages; 0 if they can't be found."""
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
    def metadata(self) -> Mapping[str, str]:
        """Other properties of the file by their names in lower case (`subject`, `doi`, `arxivid`), and its XMP (`xmp`)
        if the library gives it."""
        ...

    @property
    def repaired(self) -> bool:
        """Whether the library had to repair the file, as far as it reports that; parts of it may be missing."""
        ...

    @property
    def outline(self) -> Sequence[OutlineEntry]:
        """The bookmarks; empty if there are none or they are unreadable."""
        ...

    def read(self, number: int) -> PageContent:
        """Return the content of a page, counted from 1. Raise `PageReadError`."""
        ...

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        """Return a PNG of each box of a page, turned so that text of direction `turns` is upright.

        Raise `PageReadError`.
        """
        ...

    def grids(self, number: int, *, turns: int = 0) -> Sequence[PageGrid]:
        """Return the tables that the library's layout model finds on a page, turned so that text of direction `turns`
        is upright.

        Raise `PageReadError`.
        """
        ...

    def regions(self, number: int) -> Sequence[Box]:
        """Return the regions of text (headings, paragraphs, items of lists, notes) that the library's layout model
        finds on a page.

        Raise `PageReadError`.
        """
        ...


def locked_error(name: str, *, password: str | None) -> PaperLockedError:
    """Return the refusal of an encrypted file for which no password, or a wrong one, was given."""
    if password is None:
        return PaperLockedError(
            f"{name!r} is encrypted. "
            "Send its password along (`password`; on the command line --password), or save a copy without one."
        )
    return PaperLockedError(f"{name!r} is encrypted and the password given does not open it. Check the password.")


class Backend(Protocol):
    """A library that reads pages."""

    def open(self, data: bytes, *, name: str, password: str | None) -> AbstractContextManager[Document]:
        """Open a file's bytes; `name` is for messages. Raise `PaperFileError`."""
        ...


# Creates each Char without executing Python code.
_char = cast("Callable[[object], Char]", partial(tuple.__new__, Char))


class CharTable(Sequence[Char]):
    """Characters stored by column, which takes a fraction of the memory: a long document has millions."""

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
