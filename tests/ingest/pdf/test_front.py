"""The title of a paper."""

from collections.abc import Sequence

from ingest.document.pages import PageContent
from ingest.pdf.front import title_lines
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of
from tests.ingest.pdf.words import sentence


def _line(text: str, baseline: float, *, x0: float = 50, size: float = 10.0) -> Line:
    return line_of(sentence(text, x0, baseline, size=size))


def _page(number: int, texts: Sequence[tuple[str, float]], *, x0: float = 50, size: float = 10.0) -> PageLayout:
    content = PageContent(number=number, width=600, height=800)
    lines = tuple(_line(text, baseline, x0=x0, size=size) for text, baseline in texts)
    return PageLayout(content=content, words=tuple(word for line in lines for word in line.words), lines=lines)


def test_number_of_a_chapter_is_not_a_title() -> None:
    page = _page(1, [("Chapter 2", 100), ("Turbines and Enzymes", 140)], size=24)
    assert [line.text for line in title_lines(page, page.lines)] == ["Turbines and Enzymes"]


def test_a_title_in_centred_capitals_may_be_as_small_as_the_text() -> None:
    page = _page(1, [("ON SMALL CAPITAL TITLES", 100), ("A line of text", 140)], x0=240)
    assert [line.text for line in title_lines(page, page.lines)] == ["ON SMALL CAPITAL TITLES"]
