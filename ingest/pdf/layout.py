"""The pages of a document as words, lines and columns, and the style of its body text."""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from statistics import median

from ingest.document.pages import PageContent
from ingest.pdf.captions import Caption, find_captions
from ingest.pdf.columns import crosses, find_gutters
from ingest.pdf.fonts import is_monospaced
from ingest.pdf.line_numbers import find_line_numbers
from ingest.pdf.lines import Line, fold_fractions, lines_of
from ingest.pdf.pdf_words import Word, fold_initials, words_of
from paperscope_core.types import Box

__all__ = ["BodyStyle", "Edges", "PageLayout", "RegionFinder", "page_layouts", "with_edges"]

# Returns the regions of text on a page, from 1, turned by quarter turns.
RegionFinder = Callable[[int, int], Sequence[Box]]

# Chosen on the development papers.
_LONGEST = 2.0  # The largest usual ratio of a page's height to its width.
_FRACTION_SIZE = 0.82  # In sizes of the body: the letters of fractions within a line are smaller.
_BODY_SIZE_ROUNDING = 0.7  # Points; the largest difference between a line of body text and the body's size.
_MIN_LINES = 10  # The least number of body lines from which a page's own column edges are measured.
_JUSTIFIED_SHARE = 0.2  # The least share of lines with a common end in justified text.
_TEXT_SHARE = 0.15  # The least share of the letters of a document that are its text; the rest may be programs.
_NARROW, _WIDE = frozenset("ijl"), frozenset("mwMW")
_UNEQUAL = _NARROW | _WIDE
_ONE_WIDTH = 0.03  # Letter sizes; the largest difference of widths in a monospaced font, by rounding.
_RAGGED_QUANTILE = 0.95  # The quantile of line ends at which a column of ragged text ends.


@dataclass(frozen=True, kw_only=True, slots=True)
class BodyStyle:
    """The letter size and font of most of a document; `monospaced` are the fonts of it whose letters have one width."""

    size: float
    font: str
    monospaced: frozenset[str] = frozenset()

    def is_program(self, font: str) -> bool:
        """Return whether a font is monospaced by its widths or its name, and the body's font is not."""
        return self.has_one_width(font) and not self.has_one_width(self.font)

    def has_one_width(self, font: str) -> bool:
        """Return whether a font is monospaced."""
        return font in self.monospaced or is_monospaced(font)


@dataclass(frozen=True, kw_only=True, slots=True)
class Edges:
    """The x at which the lines of a column begin and end; in ragged text, where the longest lines end."""

    left: float
    right: float

    @property
    def width(self) -> float:
        """The width of the column."""
        return self.right - self.left


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PageLayout:
    """A page as words, lines, captions and columns, with the style of its document's body; `index` counts from 0.

    `gutters` are the x between its columns, none on a page of one column; `edges` are the edges of its columns, known
    once the floats are found. `numbers` are its line numbers, one list per strip; they are not among its words.
    `quoted` are lines that look like captions but are printed inside a float.
    """

    content: PageContent
    lines: tuple[Line, ...]
    words: tuple[Word, ...]
    captions: tuple[Caption, ...] = ()
    quoted: frozenset[Line] = frozenset()
    gutters: tuple[float, ...] = ()
    edges: tuple[Edges, ...] = ()
    numbers: tuple[tuple[Word, ...], ...] = ()
    body: BodyStyle = BodyStyle(size=10.0, font="")
    index: int = 0

    @property
    def printed_height(self) -> float:
        """The height of the page; that of a usual page if it is far longer, as a saved web page."""
        return min(self.content.height, _LONGEST * self.content.width)

    @property
    def columns(self) -> int:
        """The number of columns."""
        return len(self.gutters) + 1

    @property
    def column_bounds(self) -> tuple[float, ...]:
        """The x at which columns begin and end: the left edge of the page, its gutters, its right edge."""
        return (0.0, *self.gutters, self.content.width)

    @property
    def leading(self) -> float:
        """The usual gap between the boxes of one line of text and the next, 0 on a page of few lines."""
        body = [line for line in self.lines if abs(line.size - self.body.size) < _BODY_SIZE_ROUNDING]
        gaps = [lower.box.y0 - upper.box.y1 for upper, lower in pairwise(body) if lower.box.y0 > upper.box.y1]
        return median(gaps) if len(gaps) >= _MIN_LINES else 0.0

    def column(self, line: Line) -> int:
        """Return the column of a line, from 0 at the left; `columns` for a line that crosses a gutter."""
        if any(crosses(line.box, gutter) for gutter in self.gutters):
            return self.columns
        return bisect(self.gutters, line.center)

    def by_column(self, lines: Iterable[Line]) -> list[list[Line]]:
        """Return the lines of each column in their order, and at the end those that cross a gutter."""
        columns: list[list[Line]] = [[] for _ in range(self.columns + 1)]
        for line in lines:
            columns[self.column(line)].append(line)
        return columns

    def edges_at(self, line: Line) -> Edges:
        """Return the edges of a line's column."""
        return self.edges[min(self.column(line), len(self.edges) - 1)]

    def lines_between(self, top: float, bottom: float) -> Sequence[Line]:
        """Return the lines whose baseline is between two heights, from top to bottom."""
        start = bisect(self.lines, top, key=attrgetter("baseline"))
        return self.lines[start : bisect(self.lines, bottom, key=attrgetter("baseline"))]

    def lines_with(self, words: Collection[Word]) -> frozenset[Line]:
        """Return the lines that contain any of these words."""
        inside = set(words)
        return frozenset(line for line in self.lines if any(word in inside for word in line.words))


def _body_style(pages: Sequence[PageContent]) -> BodyStyle:
    """Return the most frequent size (to 0.5 pt) and font of a document, counted in characters.

    A document with more programs than text has the font of its text.
    """
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    for page in pages:
        upright = page.upright
        for size, count in Counter(map(attrgetter("size"), upright)).items():
            sizes[round(size * 2) / 2] += count
        fonts.update(map(attrgetter("font"), upright))
    if not sizes:
        return BodyStyle(size=10.0, font="")
    style = BodyStyle(size=sizes.most_common(1)[0][0], font=fonts.most_common(1)[0][0], monospaced=_monospaced(pages))
    printed = [font for font, count in fonts.most_common() if count > _TEXT_SHARE * fonts.total()]
    text = (font for font in printed if not style.has_one_width(font))
    return replace(style, font=next(text, style.font))


def _monospaced(pages: Sequence[PageContent]) -> frozenset[str]:
    """Return the fonts in which letters that are narrow in other fonts are as wide as those that are wide there."""
    widths: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for page in pages:
        for char in page.chars:
            if char.text in _UNEQUAL and char.direction == 0 and char.size > 0:
                widths[char.font][char.text].append((char.x1 - char.x0) / char.size)
    usual = {font: {letter: median(found) for letter, found in letters.items()} for font, letters in widths.items()}
    return frozenset(
        font
        for font, found in usual.items()
        if not _NARROW.isdisjoint(found)
        and not _WIDE.isdisjoint(found)
        and max(found.values()) - min(found.values()) < _ONE_WIDTH
    )


def page_layouts(pages: Sequence[PageContent], *, regions: RegionFinder | None = None) -> list[PageLayout]:
    """Read the words, lines and captions of all pages.

    Args:
        pages: The pages.
        regions: Provides the regions of text that a layout model finds on pages whose columns are in doubt.
    """
    body = _body_style(pages)
    words = [fold_initials(words_of(page.upright, body_font=body.font)) for page in pages]
    numbers = find_line_numbers(words, rules=[page.horizontal for page in pages])
    for index, (page, strips) in enumerate(zip(pages, numbers, strict=True)):
        gone = {word for strip in strips for word in strip}
        text = [word for word in words[index] if word not in gone]
        words[index] = fold_fractions(text, page.horizontal, below=_FRACTION_SIZE * body.size)
    gutters = find_gutters(
        [(page.width, page_words) for page, page_words in zip(pages, words, strict=True)],
        regions=None if regions is None else lambda index: regions(pages[index].number, pages[index].turns),
    )
    layouts: list[PageLayout] = []
    for index, page in enumerate(pages):
        lines = lines_of(words[index], gutters=gutters[index])
        middle = gutters[index][0] if len(gutters[index]) == 1 else None
        layouts.append(
            PageLayout(
                content=page,
                lines=tuple(lines),
                words=tuple(words[index]),
                captions=tuple(find_captions(lines, gutter=middle, rules=page.horizontal, page=index)),
                gutters=gutters[index],
                numbers=tuple(map(tuple, numbers[index])),
                body=body,
                index=index,
            )
        )
    return layouts


def with_edges(layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]]) -> list[PageLayout]:
    """Return the pages with the edges of their columns, measured on the free lines of body size of each page.

    A column with few such lines has the edges of the document's other columns in its place.
    """
    pages = [
        layout.by_column(line for line in lines if abs(line.size - layout.body.size) < _BODY_SIZE_ROUNDING)[:-1]
        for layout, lines in zip(layouts, free, strict=True)
    ]
    common: defaultdict[tuple[int, int], list[Line]] = defaultdict(list)
    for page in pages:
        for column, lines in enumerate(page):
            common[len(page), column].extend(lines)
    usual = {key: _edges(lines) for key, lines in common.items() if lines}
    return [
        replace(
            layout,
            edges=tuple(
                _edges(lines)
                if len(lines) >= _MIN_LINES
                else usual.get((len(page), column), Edges(left=0.0, right=layout.content.width))
                for column, lines in enumerate(page)
            ),
        )
        for layout, page in zip(layouts, pages, strict=True)
    ]


def _edges(lines: Sequence[Line]) -> Edges:
    lefts = Counter(round(line.box.x0) for line in lines)
    rights = Counter(round(line.box.x1) for line in lines)
    right, count = rights.most_common(1)[0]
    if count < _JUSTIFIED_SHARE * len(lines):
        right = sorted(rights.elements())[int(_RAGGED_QUANTILE * (len(lines) - 1))]
    return Edges(left=float(lefts.most_common(1)[0][0]), right=float(right))
