"""The pages of a document as words and lines, with their columns and what is common to all pages."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class BodyStyle:
    """The letter size and font that most of the document is set in."""

    size: float
    font: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PageLayout:
    """A page's words and lines; `gutters` are the x between its columns, none on a page of one.

    `numbers` are its line numbers, a list for each ruler of them; they are no part of its words.
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
        """How many columns the page has."""
        return len(self.gutters) + 1

    def column(self, line: Line) -> int:
        """The column in which a line stands, from 0 at the left; `columns` for a line over several."""
        if any(crosses(line.box, gutter) for gutter in self.gutters):
            return self.columns
        return bisect(self.gutters, line.center)

    def lines_with(self, words: Collection[Word]) -> frozenset[Line]:
        """The lines in which any of these words stands."""
        inside = set(words)
        return frozenset(line for line in self.lines if any(word in inside for word in line.words))


def body_style(pages: Sequence[PageContent]) -> BodyStyle:
    """The commonest size (to 0.5 pt) and font of a document, counted in characters."""
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
    """Read the words and lines of all pages."""
    words = [fold_initials(words_of(page.upright, body_font=body.font)) for page in pages]
    numbers = find_line_numbers(words, rules=[page.horizontal for page in pages])
    words = [
        fold_fractions(_without(page_words, rulers), page.horizontal, below=0.82 * body.size)
        for page, page_words, rulers in zip(pages, words, numbers, strict=True)
    ]
    found = find_gutters([(page.width, page_words) for page, page_words in zip(pages, words, strict=True)])
    return [
        PageLayout(
            content=page,
            words=tuple(page_words),
            lines=tuple(lines_of(page_words, gutters=page_gutters)),
            gutters=page_gutters,
            numbers=tuple(tuple(ruler) for ruler in rulers),
        )
        for page, page_words, page_gutters, rulers in zip(pages, words, found, numbers, strict=True)
    ]


def _without(words: list[Word], rulers: Sequence[Sequence[Word]]) -> list[Word]:
    gone = {word for ruler in rulers for word in ruler}
    return [word for word in words if word not in gone] if gone else words


_ENOUGH = 10
_JUSTIFIED = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Edges:
    """Where the lines of a column begin and end (x); in ragged text, where the longest of them end."""

    left: float
    right: float


def column_edges(
    layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]], *, body: BodyStyle
) -> list[tuple[Edges, ...]]:
    """The edges of each page's columns: its own if it has ten lines of body text, else the document's."""
    per_page = [
        [
            [line for line in lines if layout.column(line) == column and abs(line.size - body.size) < 0.7]
            for column in range(layout.columns)
        ]
        for layout, lines in zip(layouts, free, strict=True)
    ]
    common: dict[tuple[int, int], Edges] = {}
    for columns in {len(page) for page in per_page}:
        for column in range(columns):
            lines = [line for page in per_page if len(page) == columns for line in page[column]]
            if lines:
                common[columns, column] = _edges(lines)
    result: list[tuple[Edges, ...]] = []
    for layout, page in zip(layouts, per_page, strict=True):
        whole = Edges(left=0.0, right=layout.content.width)
        result.append(
            tuple(
                _edges(lines) if len(lines) >= _ENOUGH else common.get((len(page), column), whole)
                for column, lines in enumerate(page)
            )
        )
    return result


def _edges(lines: Sequence[Line]) -> Edges:
    lefts = Counter(round(line.box.x0) for line in lines)
    rights = Counter(round(line.box.x1) for line in lines)
    right, count = rights.most_common(1)[0]
    if count < _JUSTIFIED * len(lines):
        right = sorted(rights.elements())[int(0.95 * (len(lines) - 1))]
    return Edges(left=float(lefts.most_common(1)[0][0]), right=float(right))
