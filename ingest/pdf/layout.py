"""The pages of a document as words, lines and columns, and the style of its body text."""

from bisect import bisect
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ingest.document.pages import PageContent
from ingest.pdf.columns import crosses, find_gutters
from ingest.pdf.fractions import fold_fractions
from ingest.pdf.line_numbers import find_line_numbers
from ingest.pdf.lines import Line, lines_of
from ingest.pdf.words import Word, fold_initials, words_of

__all__ = ["BodyStyle", "Edges", "PageLayout", "body_style", "column_edges", "page_layouts"]

# Chosen on the development papers.
_FRACTION_SIZE = 0.82  # In sizes of the body: the letters of fractions within a line are smaller.
_BODY_SIZE_ROUNDING = 0.7  # Points; the largest difference between a line of body text and the body's size.
_MIN_LINES = 10  # The least number of body lines from which a page's own column edges are measured.
_JUSTIFIED_SHARE = 0.2  # The least share of lines with a common end in justified text.
_RAGGED_QUANTILE = 0.95  # The quantile of line ends at which a column of ragged text ends.


@dataclass(frozen=True, kw_only=True, slots=True)
class BodyStyle:
    """The letter size and font of most of a document."""

    size: float
    font: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PageLayout:
    """The words and lines of a page; `gutters` are the x between its columns, none on a page of one column.

    `numbers` are its line numbers, one list per strip; they are not among its words.
    """

    content: PageContent
    words: tuple[Word, ...]
    lines: tuple[Line, ...]
    gutters: tuple[float, ...] = ()
    numbers: tuple[tuple[Word, ...], ...] = ()

    @property
    def gutter(self) -> float | None:
        """The x between the columns of a page of two, None on any other page."""
        return self.gutters[0] if len(self.gutters) == 1 else None

    @property
    def columns(self) -> int:
        """The number of columns."""
        return len(self.gutters) + 1

    @property
    def column_bounds(self) -> tuple[float, ...]:
        """The x at which columns begin and end: the left edge of the page, its gutters, its right edge."""
        return (0.0, *self.gutters, self.content.width)

    def column(self, line: Line) -> int:
        """Returns the column of a line, from 0 at the left; `columns` for a line that crosses a gutter."""
        if any(crosses(line.box, gutter) for gutter in self.gutters):
            return self.columns
        return bisect(self.gutters, line.center)

    def lines_with(self, words: Collection[Word]) -> frozenset[Line]:
        """Returns the lines that contain any of these words."""
        inside = set(words)
        return frozenset(line for line in self.lines if any(word in inside for word in line.words))


@dataclass(frozen=True, kw_only=True, slots=True)
class Edges:
    """The x at which the lines of a column begin and end; in ragged text, where the longest lines end."""

    left: float
    right: float


def body_style(pages: Sequence[PageContent]) -> BodyStyle:
    """Returns the most frequent size (to 0.5 pt) and font of a document, counted in characters."""
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    for page in pages:
        upright = page.upright
        for size, count in Counter(map(attrgetter("size"), upright)).items():
            sizes[round(size * 2) / 2] += count
        fonts.update(map(attrgetter("font"), upright))
    if not sizes:
        return BodyStyle(size=10.0, font="")
    return BodyStyle(size=sizes.most_common(1)[0][0], font=fonts.most_common(1)[0][0])


def page_layouts(pages: Sequence[PageContent], *, body: BodyStyle) -> list[PageLayout]:
    """Reads the words and lines of all pages."""
    words = [fold_initials(words_of(page.upright, body_font=body.font)) for page in pages]
    numbers = find_line_numbers(words, rules=[page.horizontal for page in pages])
    for index, (page, strips) in enumerate(zip(pages, numbers, strict=True)):
        gone = {word for strip in strips for word in strip}
        text = [word for word in words[index] if word not in gone]
        words[index] = fold_fractions(text, page.horizontal, below=_FRACTION_SIZE * body.size)
    gutters = find_gutters([(page.width, page_words) for page, page_words in zip(pages, words, strict=True)])
    return [
        PageLayout(
            content=page,
            words=tuple(page_words),
            lines=tuple(lines_of(page_words, gutters=page_gutters)),
            gutters=page_gutters,
            numbers=tuple(map(tuple, strips)),
        )
        for page, page_words, page_gutters, strips in zip(pages, words, gutters, numbers, strict=True)
    ]


def column_edges(
    layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]], *, body: BodyStyle
) -> list[tuple[Edges, ...]]:
    """Returns the edges of each page's columns: its own given enough lines of body text, otherwise the document's."""
    pages = [
        [
            [line for line in lines if layout.column(line) == column and _is_body(line, body)]
            for column in range(layout.columns)
        ]
        for layout, lines in zip(layouts, free, strict=True)
    ]
    common: dict[tuple[int, int], list[Line]] = {}
    for page in pages:
        for column, lines in enumerate(page):
            common.setdefault((len(page), column), []).extend(lines)
    edges = {key: _edges(lines) for key, lines in common.items() if lines}
    return [
        tuple(
            _edges(lines)
            if len(lines) >= _MIN_LINES
            else edges.get((len(page), column), Edges(left=0.0, right=layout.content.width))
            for column, lines in enumerate(page)
        )
        for layout, page in zip(layouts, pages, strict=True)
    ]


def _is_body(line: Line, body: BodyStyle) -> bool:
    return abs(line.size - body.size) < _BODY_SIZE_ROUNDING


def _edges(lines: Sequence[Line]) -> Edges:
    lefts = Counter(round(line.box.x0) for line in lines)
    rights = Counter(round(line.box.x1) for line in lines)
    right, count = rights.most_common(1)[0]
    if count < _JUSTIFIED_SHARE * len(lines):
        right = sorted(rights.elements())[int(_RAGGED_QUANTILE * (len(lines) - 1))]
    return Edges(left=float(lefts.most_common(1)[0][0]), right=float(right))
