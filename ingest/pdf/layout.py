"""The pages of a document as words and lines, with what is common to all of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.backend import PageContent
from ingest.pdf.columns import gutters
from ingest.pdf.fractions import fold_fractions
from ingest.pdf.lines import Line, lines_of
from ingest.pdf.words import Word, words_of

__all__ = ["BodyStyle", "PageLayout", "body_style", "layouts_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class BodyStyle:
    """The letter size and font that most of the document is set in."""

    size: float
    font: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PageLayout:
    """A page's words and lines; `gutter` is the x between its two columns, None on a page of one."""

    content: PageContent
    words: tuple[Word, ...]
    lines: tuple[Line, ...]
    gutter: float | None

    def column(self, line: Line) -> int:
        """0 for the left column and for a page of one, 1 for the right one, 2 for a line over both."""
        if self.gutter is None:
            return 0
        if line.box.x0 < self.gutter - 15 and line.box.x1 > self.gutter + 15:
            return 2
        return 0 if line.center < self.gutter else 1


def body_style(pages: Sequence[PageContent]) -> BodyStyle:
    """The commonest size (to 0.5 pt) and font of a document, counted in characters."""
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    for page in pages:
        sizes.update(round(char.size * 2) / 2 for char in page.upright)
        fonts.update(char.font for char in page.upright)
    if not sizes:
        return BodyStyle(size=10.0, font="")
    return BodyStyle(size=sizes.most_common(1)[0][0], font=fonts.most_common(1)[0][0])


def layouts_of(pages: Sequence[PageContent], *, body: BodyStyle) -> list[PageLayout]:
    """Read the words and lines of all pages."""
    words = [
        fold_fractions(words_of(page.upright, body_font=body.font), page.horizontal, below=0.82 * body.size)
        for page in pages
    ]
    found = gutters([(page.width, page_words) for page, page_words in zip(pages, words, strict=True)])
    return [
        PageLayout(
            content=page, words=tuple(page_words), lines=tuple(lines_of(page_words, gutter=gutter)), gutter=gutter
        )
        for page, page_words, gutter in zip(pages, words, found, strict=True)
    ]
