"""Algorithms and program listings."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.document.pages import HorizontalRule, PageContent
from ingest.pdf.captions import find_captions
from ingest.pdf.layout import BodyStyle, PageLayout
from ingest.pdf.lines import line_of
from ingest.pdf.listings import FoundListing, find_listings
from tests.ingest.pdf.words import sentence

_BODY = BodyStyle(size=10, font="Times")


def _listings(
    texts: Sequence[tuple[str, float, float]], *, rules: Sequence[float] = (), font: str = ""
) -> list[FoundListing]:
    """The listings of a page of lines, each a text, its x and its baseline, with rules under each other."""
    content = PageContent(number=1, width=600, height=800, horizontal=tuple(HorizontalRule(50, 300, y) for y in rules))
    lines = [
        line_of([replace(word, font=font or word.font) for word in sentence(text, x0, baseline)])
        for text, x0, baseline in texts
    ]
    captions = tuple(find_captions(lines, gutter=None))
    layout = PageLayout(content=content, words=(), lines=tuple(lines), captions=captions, body=_BODY)
    return find_listings(layout, lines)


def test_algorithm_between_the_rules_below_its_caption() -> None:
    texts = [("Algorithm 1: Search", 52, 100), ("1: begin", 56, 120), ("2:", 56, 132), ("go on", 80, 132)]
    (found,) = _listings([*texts, ("The text goes on.", 50, 170)], rules=(90, 105, 140))
    assert (found.label, found.caption, found.text) == ("Algorithm 1", "Search", "1: begin\n2:   go on")


def test_lines_in_letters_of_one_width_are_a_program() -> None:
    (found,) = _listings([("def f():", 50, 100), ("return 1", 74, 112)], font="CMTT10")
    assert (found.label, found.text) == ("", "def f():\n    return 1")
    assert not _listings([("https://a.example/", 50, 100), ("the-path", 50, 112)], font="CMTT10")
    assert not _listings([("def f():", 50, 100), ("return 1", 74, 112)])
