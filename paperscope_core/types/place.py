"""Places on a page: boxes, pages, lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Box", "Place", "PrintedLine", "where"]


class Box(NamedTuple):
    """A rectangle in PDF points (1/72 inch), from the top left corner of the page as a reader sees it.

    Parsers round coordinates to 0.1 pt, so that a place survives a round trip through text.

    Example:
        >>> box = Box(72, 100, 300, 140)
        >>> box.width, box.height
        (228, 40)
        >>> box.union(Box(72, 130, 320, 160))
        Box(x0=72, y0=100, x1=320, y1=160)
    """

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """The horizontal extent."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """The vertical extent."""
        return self.y1 - self.y0

    @property
    def center(self) -> float:
        """The x of the middle."""
        return (self.x0 + self.x1) / 2

    @property
    def middle(self) -> float:
        """The y of the middle."""
        return (self.y0 + self.y1) / 2

    def grown(self, x: float, y: float) -> "Box":
        """Return the box with margins left and right (x), above and below (y)."""
        return Box(self.x0 - x, self.y0 - y, self.x1 + x, self.y1 + y)

    def union(self, other: "Box") -> "Box":
        """Return the smallest box that contains both."""
        return Box(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def rounded(self) -> "Box":
        """Return the box with its coordinates rounded to 0.1 pt."""
        return Box(*(round(value, 1) for value in self))


class PrintedLine(NamedTuple):
    """A printed line of running text: the position of its first character in the text, its page and its box."""

    start: int
    page: int
    box: Box


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A box on a page of a paper; `page` counts from 1.

    A file without pages (Markdown, HTML, text, XML, DOCX, ...) is one page, and its boxes count lines of the source
    instead of points: y0 is the first line and y1 the last one, both from 1; x0 and x1 are 0. DOCX and ODT count
    blocks, not lines; XLSX counts the rows of each sheet.

    Example:
        >>> place = Place(paper="3f2a9c1b7d10", page=4, box=Box(72, 100, 300, 140))
        >>> place.where
        'page 4'
        >>> Place.parse(str(place)) == place
        True
    """

    paper: str
    page: int
    box: Box

    @property
    def by_line(self) -> bool:
        """Whether the box counts lines of the source, not points on a page."""
        return self.box.x0 == self.box.x1 == 0 and self.box.y0 >= 1

    @property
    def where(self) -> str:
        """A readable form: `page 3`, or `line 12` and `lines 12-14` of a file without pages."""
        if not self.by_line:
            return f"page {self.page}"
        first, last = int(self.box.y0), int(self.box.y1)
        return f"line {first}" if first == last else f"lines {first}-{last}"

    def __str__(self) -> str:
        """`PAPER p.PAGE [x0 y0 x1 y1]`; `Place.parse` reads it back."""
        box = " ".join(f"{value:.1f}" for value in self.box)
        return f"{self.paper} p.{self.page} [{box}]"

    @classmethod
    def parse(cls, text: str) -> "Place":
        """Read a place that `str` wrote.

        Raises:
            ValueError: The text is not a place; the message quotes it.
        """
        try:
            head, _, tail = text.strip().partition(" p.")
            page, _, box = tail.partition(" [")
            x0, y0, x1, y1 = (float(value) for value in box.removesuffix("]").split())
            return cls(paper=head, page=int(page), box=Box(x0, y0, x1, y1))
        except ValueError as error:
            raise ValueError(f"not a place: {text!r} (expected 'PAPER p.PAGE [x0 y0 x1 y1]')") from error


def where(places: Sequence[Place]) -> str:
    """Return a readable form of places in one paper: `page 3`, `pages 3, 4`, `lines 12-14`."""
    if len(places) == 1 or any(place.by_line for place in places):
        return ", ".join(dict.fromkeys(place.where for place in places))
    pages = sorted({place.page for place in places})
    return f"page{'s' if len(pages) > 1 else ''} {', '.join(map(str, pages))}"
