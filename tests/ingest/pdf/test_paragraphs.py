"""The rules of running text, on words that no PDF library has touched."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ingest.document.authors import author_names
from ingest.document.line_text import join_lines
from ingest.document.pages import HorizontalRule, PageContent
from ingest.pdf.captions import find_captions
from ingest.pdf.front import title_lines
from ingest.pdf.furniture import find_furniture
from ingest.pdf.layout import BodyStyle, Edges, PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.listings import FoundListing, find_listings
from ingest.pdf.paragraphs import FlowLine, TextStyle, find_footnotes, find_sidebars, paragraphs_of
from ingest.pdf.words import fold_initials
from tests.ingest.pdf.words import sentence, word

_BODY = BodyStyle(size=10, font="Times")
_STYLE = TextStyle(pitch=1.2, indents=True)


def _line(text: str, baseline: float, *, x0: float = 50, size: float = 10.0) -> Line:
    return line_of(sentence(text, x0, baseline, size=size))


def _page(number: int, texts: Sequence[tuple[str, float]], *, x0: float = 50, size: float = 10.0) -> PageLayout:
    content = PageContent(number=number, width=600, height=800)
    lines = tuple(_line(text, baseline, x0=x0, size=size) for text, baseline in texts)
    return PageLayout(content=content, words=tuple(word for line in lines for word in line.words), lines=lines)


def _paragraphs(*lines: tuple[str, float, float]) -> list[str]:
    """The paragraphs of lines, each a text, its baseline and its size, that fill their column."""
    flow = []
    for text, baseline, size in lines:
        line = _line(text, baseline, size=size)
        flow.append(FlowLine(page=0, column=0, edges=Edges(left=50, right=line.box.x1), line=line))
    found = paragraphs_of(flow, style=_STYLE)
    return [join_lines(line.line.text for line in paragraph.lines) for paragraph in found]


def test_a_sentence_is_joined_over_a_note_in_small_type() -> None:
    assert _paragraphs(
        ("the signal approximates the", 100, 10), ("a note of its own.", 120, 8), ("thermal residual.", 140, 10)
    ) == ["the signal approximates the thermal residual.", "a note of its own."]


def test_a_sentence_is_joined_over_the_gap_of_a_float() -> None:
    assert len(_paragraphs(("we compare the two", 100, 10), ("models in the table.", 300, 10))) == 1
    assert len(_paragraphs(("we compare them.", 100, 10), ("models in the table.", 300, 10))) == 2


def test_numbers_below_the_text_that_count_on_are_page_numbers() -> None:
    layouts = [_page(at, [("text of the page", 500), (str(at + 6), 640)]) for at in (1, 2, 3)]
    found = find_furniture(layouts, [layout.lines for layout in layouts])
    assert [[line.text for line in lines] for lines in found] == [["7"], ["8"], ["9"]]


def test_numbers_below_the_text_that_count_otherwise_are_text() -> None:
    layouts = [_page(at, [("text of the page", 500), (str(at * at), 640)]) for at in (1, 3, 5, 7)]
    assert not any(find_furniture(layouts, [layout.lines for layout in layouts]))


def _listings(
    texts: Sequence[tuple[str, float, float]], *, rules: Sequence[float] = (), font: str = ""
) -> list[FoundListing]:
    """The listings of a page of lines, each a text, its x and its baseline, with rules under each other."""
    content = PageContent(number=1, width=600, height=800, horizontal=tuple(HorizontalRule(50, 300, y) for y in rules))
    lines = [
        line_of([replace(word, font=font or word.font) for word in sentence(text, x0, baseline)])
        for text, x0, baseline in texts
    ]
    layout = PageLayout(content=content, words=(), lines=tuple(lines))
    return find_listings(layout, find_captions(lines, gutter=None), lines, page=0, body=_BODY)


def test_an_algorithm_stands_between_the_rules_below_its_caption() -> None:
    texts = [("Algorithm 1: Search", 52, 100), ("1: begin", 56, 120), ("2:", 56, 132), ("go on", 80, 132)]
    (found,) = _listings([*texts, ("The text goes on.", 50, 170)], rules=(90, 105, 140))
    assert (found.label, found.caption, found.text) == ("Algorithm 1", "Search", "1: begin\n2:   go on")


def test_lines_in_letters_of_one_width_are_a_program() -> None:
    (found,) = _listings([("def f():", 50, 100), ("return 1", 74, 112)], font="CMTT10")
    assert (found.label, found.text) == ("", "def f():\n    return 1")
    assert not _listings([("https://a.example/", 50, 100), ("the-path", 50, 112)], font="CMTT10")
    assert not _listings([("def f():", 50, 100), ("return 1", 74, 112)])


def test_an_initial_joins_the_word_beside_its_top() -> None:
    words = [word("I", 50, 112, size=24), word("N", 66, 100), word("this", 74, 100), word("text", 66, 112)]
    assert [item.text for item in fold_initials(words)] == ["IN", "this", "text"]


def test_an_initial_that_is_a_word_stays_one() -> None:
    words = [word("A", 50, 112, size=24), word("model", 66, 100), word("text", 66, 112), word("model", 66, 124)]
    assert fold_initials(words)[0].text == "A model"


def test_the_number_of_a_chapter_is_no_title() -> None:
    page = _page(1, [("Chapter 2", 100), ("Turbines and Enzymes", 140)], size=24)
    assert [line.text for line in title_lines(page, page.lines, body=_BODY)] == ["Turbines and Enzymes"]


def test_a_title_in_centred_capitals_may_be_as_small_as_the_text() -> None:
    page = _page(1, [("ON SMALL CAPITAL TITLES", 100), ("A line of text", 140)], x0=240)
    assert [line.text for line in title_lines(page, page.lines, body=_BODY)] == ["ON SMALL CAPITAL TITLES"]


def test_a_note_on_the_authors_needs_no_mark() -> None:
    text = [_line("the text of a column", 690)]
    notes = [_line("The authors are with a school.", 720, size=8), _line("¹A note of its own.", 730, size=8)]
    page = _page(1, [])
    assert find_footnotes(page, [*text, *notes], body=_BODY) == notes
    assert find_footnotes(page, text, body=_BODY) == []


def test_small_print_outside_the_column_is_a_sidebar() -> None:
    text = [_line("the text of a column", 100 + 12 * row, x0=170) for row in range(4)]
    aside = [_line(words, 104 + 12 * row, x0=40, size=8) for row, words in enumerate(("License", "Copyright", "2022"))]
    edges = [Edges(left=170, right=270)]
    assert find_sidebars([*text, *aside], edges, body=_BODY) == ([aside], text)
    assert find_sidebars([*text, *aside[:2]], edges, body=_BODY) == ([], [*text, *aside[:2]])


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["Ann Bee♣, Carl Doe♠♣ and Eve Fox^(1,2)", "♣", "Shannon.AI"], ("Ann Bee", "Carl Doe", "Eve Fox")),
        (["Ann Bee^([0000−0002]), Carl Doe^([0000−0003])"], ("Ann Bee", "Carl Doe")),
        (["Ann Bee  Carl D. Doe", "Eve Fox"], ("Ann Bee", "Carl D. Doe", "Eve Fox")),
        (["Ann Bee ¹, Carl", "1", "Doe ²", "1 Town Hall, Great", "Road House"], ("Ann Bee", "Carl Doe")),
        (["Ann Bee¹", "¹Town Hall", "Carl Doe² Eve Fox¹"], ("Ann Bee", "Carl Doe", "Eve Fox")),
    ],
)
def test_names_of_authors(lines: list[str], names: tuple[str, ...]) -> None:
    assert author_names(lines, metadata="") == names


def test_items_of_a_list_are_parted_by_their_marks() -> None:
    items = [("1. Causes", 100, 10), ("2. Effects of", 112, 10), ("3. Trees", 124, 10)]
    assert _paragraphs(*items) == [text for text, _, _ in items]
    dashes = [("– one cell", 100, 10), ("– two cells", 112, 10)]
    assert _paragraphs(*dashes) == [text for text, _, _ in dashes]
    assert len(_paragraphs(("as shown in", 100, 10), ("2. Effects", 112, 10))) == 1


def test_the_first_entries_of_a_bibliography_are_no_notes() -> None:
    heading = line_of([replace(item, bold=True) for item in sentence("References", 50, 650, size=12)])
    entries = [_line("1. Bee, A.: A book. Town", 680, size=8), _line("https://a.example/b", 690, size=8)]
    page = _page(2, [])
    assert find_footnotes(page, [heading, *entries], body=_BODY) == []


def test_a_line_of_small_typewriter_names_among_words_of_the_text_stays_in_its_paragraph() -> None:
    names = [*sentence("en_core_web_md_of_old_times", 50, 112, size=8), *sentence("and others of", 190, 112)]
    lines = [
        _line("We compare them all with the pipelines", 100),
        line_of(names),
        _line("that we know, each of them tuned.", 124),
    ]
    assert lines[1].size == 8
    edges = Edges(left=50, right=max(line.box.x1 for line in lines))
    flow = [FlowLine(page=0, column=0, edges=edges, line=line) for line in lines]
    [paragraph] = paragraphs_of(flow, style=_STYLE)
    assert [line.line for line in paragraph.lines] == lines
