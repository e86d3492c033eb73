"""The title of a paper."""

from ingest.pdf.front import title_lines
from tests.ingest.pdf.words import printed_page


def test_number_of_a_chapter_is_not_a_title() -> None:
    page = printed_page(1, [("Chapter 2", 100), ("Turbines and Enzymes", 140)], size=24)
    assert [line.text for line in title_lines(page, page.lines)] == ["Turbines and Enzymes"]


def test_a_title_in_centred_capitals_may_be_as_small_as_the_text() -> None:
    page = printed_page(1, [("ON SMALL CAPITAL TITLES", 100), ("A line of text", 140)], x0=240)
    assert [line.text for line in title_lines(page, page.lines)] == ["ON SMALL CAPITAL TITLES"]
