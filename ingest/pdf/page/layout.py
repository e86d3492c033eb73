"""The pages of a document as words and lines, with what is common to all of them."""

from bisect import bisect
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ingest.pdf.backend import PageContent
from ingest.pdf.formulas.fractions import fold_fractions
from ingest.pdf.page.columns import gutters
from ingest.pdf.page.flow import crosses
from ingest.pdf.page.initials import fold_initials
from ingest.pdf.page.lines import Line, lines_of
from ingest.pdf.page.margins import line_numbers
from ingest.pdf.page.words import Word, words_of

__all__ = ["BodyStyle", "PageLayout", "body_style", "layouts_of"]


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


def layouts_of(pages: Sequence[PageContent], *, body: BodyStyle) -> list[PageLayout]:
    """Read the words and lines of all pages."""
    words = [fold_initials(words_of(page.upright, body_font=body.font)) for page in pages]
    numbers = line_numbers(words, rules=[page.horizontal for page in pages])
    words = [
        fold_fractions(_without(page_words, rulers), page.horizontal, below=0.82 * body.size)
        for page, page_words, rulers in zip(pages, words, numbers, strict=True)
    ]
    found = gutters([(page.width, page_words) for page, page_words in zip(pages, words, strict=True)])
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
