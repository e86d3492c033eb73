"""Algorithms and program listings."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.document.pages import HorizontalRule, PageContent
from ingest.pdf.captions import find_captions
from ingest.pdf.frames import Frame, find_framed_listings
from ingest.pdf.layout import BodyStyle, PageLayout, page_layouts
from ingest.pdf.lines import line_of
from ingest.pdf.listings import FoundListing, find_listings, unlabelled_listing
from paperscope_core.types import Box
from tests.ingest.pdf.words import chars, sentence

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
    return find_listings([layout], [lines])


def test_algorithm_between_the_rules_below_its_caption() -> None:
    texts = [("Algorithm 1: Search", 52, 100), ("1: begin", 56, 120), ("2:", 56, 132), ("go on", 80, 132)]
    (found,) = _listings([*texts, ("The text goes on.", 50, 170)], rules=(90, 105, 140))
    assert (found.label, found.caption, found.text) == ("Algorithm 1", "Search", "1: begin\n2:   go on")


def test_lines_in_letters_of_one_width_are_a_program() -> None:
    (found,) = _listings([("def f():", 50, 100), ("return 1", 74, 112)], font="CMTT10")
    assert (found.label, found.text) == ("", "def f():\n    return 1")
    assert not _listings([("https://a.example/", 50, 100), ("the-path", 50, 112)], font="CMTT10")
    assert not _listings([("def f():", 50, 100), ("return 1", 74, 112)])


_FRAME = Box(50, 100, 290, 200)
_PROSE = "some words of an example that fill the line"


def _framed(fonts: Sequence[str], *, frames: Sequence[Box] = (_FRAME,), x0: float = 55) -> list[tuple[Frame, ...]]:
    """The listings among lines below each other, each in a font, in frames of a page of 600 points."""
    content = PageContent(number=1, width=600, height=800, drawings=tuple(frames))
    words = [
        [replace(word, font=font) for word in sentence(_PROSE, x0, 112 + 12 * row)] for row, font in enumerate(fonts)
    ]
    lines = tuple(map(line_of, words))
    layout = PageLayout(content=content, words=(), lines=lines, body=_BODY)
    return find_framed_listings([layout], [lines])


def test_a_frame_without_a_caption_is_a_listing_if_its_type_is_another_than_the_bodys() -> None:
    [frames] = _framed(["CMTT10"] * 3)
    found = unlabelled_listing(frames)
    assert (found.box, found.label, len(found.lines)) == (_FRAME, "", 3)
    assert _framed(["Times-Bold", *["Helvetica"] * 6])
    assert not _framed(["Helvetica"] * 3), "a note above a title"
    assert not _framed(["Times"] * 7)
    assert not _framed(["Times-Italic", "TimesNew"] * 4)
    assert not _framed(["CMTT10"]), "a button"


def test_a_frame_with_text_beside_it_is_no_listing() -> None:
    content = PageContent(number=1, width=600, height=800, drawings=(_FRAME,))
    beside = [line_of(sentence("Treated", 10, 112))]
    rows = [line_of([replace(word, font="CMTT10") for word in sentence(_PROSE, 55, y)]) for y in (112, 124, 136)]
    lines = tuple(sorted([*beside, *rows], key=lambda line: line.baseline))
    layout = PageLayout(content=content, words=(), lines=lines, body=_BODY)
    assert find_framed_listings([layout], [lines]) == []


def test_a_row_near_larger_text_goes_on_with_it() -> None:
    text = line_of(sentence("the maps are made of", 50, 100))
    rows = [
        line_of([replace(word, font="CMTT8", size=8.0) for word in sentence("grid for", 50, y)]) for y in (111, 122)
    ]
    layout = PageLayout(content=PageContent(number=1, width=600, height=800), words=(), lines=(text, *rows), body=_BODY)
    assert find_listings([layout], [[text, *rows]]) == []


def test_one_row_is_a_program_if_others_are_printed_like_it() -> None:
    texts = [("plot(x)", 50, 100), ("a(x)", 50, 200), ("b(x)", 50, 212), ("https://a.example", 50, 300)]
    assert [found.text for found in _listings(texts, font="CMTT10")] == ["plot(x)", "a(x)\nb(x)"]
    assert not _listings(texts[:1], font="CMTT10")


def test_a_program_goes_on_after_empty_lines() -> None:
    texts = [("first(x)", 50, 100), ("second(x)", 50, 136), ("third(x)", 50, 148), ("far(x)", 50, 240)]
    found, far = _listings(texts, font="CMTT10")
    assert (found.text, far.text) == ("first(x)\nsecond(x)\nthird(x)", "far(x)")


def test_the_body_of_a_document_of_programs_is_its_text() -> None:
    text = chars("text that explains", 60, 100)
    program = [char._replace(font="CMTT10") for row in range(4) for char in chars("a program", 60, 120 + 12 * row)]
    [layout] = page_layouts([PageContent(number=1, width=600, height=800, chars=(*text, *program))])
    assert layout.body.font == "Times"
    [layout] = page_layouts([PageContent(number=1, width=600, height=800, chars=(*text[:2], *program))])
    assert layout.body.font == "CMTT10"


def test_a_frame_around_columns_of_frames_is_none_itself() -> None:
    outer = Box(40, 90, 560, 210)
    content = PageContent(number=1, width=600, height=800, drawings=(outer, _FRAME, Box(310, 100, 550, 200)))
    left, right = (
        [line_of([replace(word, font="CMTT10") for word in sentence(_PROSE, x0, 112 + 12 * row)]) for row in range(4)]
        for x0 in (55, 315)
    )
    lines = tuple(sorted([*left, *right], key=lambda line: line.baseline))
    layout = PageLayout(content=content, words=(), lines=lines, body=_BODY, gutters=(300,))
    [both] = find_framed_listings([layout], [lines])
    assert [frame.box.x0 for frame in both] == [50, 310], "it continues in the next column"
    assert [frame.box.x0 for [frame] in find_framed_listings([layout], [left])] == [50]


def test_a_font_whose_letters_have_one_width_is_monospaced_whatever_its_name() -> None:
    letters = [char._replace(font="Ayuthaya") for char in chars("all will swim with him while mowing", 60, 100)]
    narrow = [char._replace(font="Sans", x1=char.x0 + 3 if char.text in "il" else char.x1) for char in letters]
    body = [char for row in range(9) for char in chars("a text of the body that is longer", 60, 120 + 12 * row)]
    body = [char._replace(x1=char.x0 + 3) if char.text == "i" else char for char in body]
    content = PageContent(number=1, width=600, height=800, chars=(*letters, *narrow, *body))
    [layout] = page_layouts([content])
    assert (layout.body.is_program("Ayuthaya"), layout.body.is_program("Sans")) == (True, False)
