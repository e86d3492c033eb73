"""Paragraphs, footnotes and sidebars, without a PDF library."""

from dataclasses import replace

from ingest.document.line_text import join_lines
from ingest.pdf.layout import Edges
from ingest.pdf.lines import line_of
from ingest.pdf.paragraphs import FlowLine, TextStyle, find_footnotes, find_sidebars, paragraphs_of
from tests.ingest.pdf.words import printed_line, printed_page, sentence

_STYLE = TextStyle(pitch=1.2, indents=True)


def _paragraphs(*lines: tuple[str, float, float]) -> list[str]:
    """The paragraphs of lines, each a text, its baseline and its size, that fill their column."""
    flow = []
    for text, baseline, size in lines:
        line = printed_line(text, baseline, size=size)
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


def test_a_note_on_the_authors_needs_no_mark() -> None:
    text = [printed_line("the text of a column", 690)]
    notes = [
        printed_line("The authors are with a school.", 720, size=8),
        printed_line("¹A note of its own.", 730, size=8),
    ]
    page = printed_page(1, [])
    assert find_footnotes(page, [*text, *notes]) == notes
    assert find_footnotes(page, text) == []


def test_small_print_outside_the_column_is_a_sidebar() -> None:
    text = [printed_line("the text of a column", 100 + 12 * row, x0=170) for row in range(4)]
    aside = [
        printed_line(words, 104 + 12 * row, x0=40, size=8) for row, words in enumerate(("License", "Copyright", "2022"))
    ]
    page = replace(printed_page(1, []), edges=(Edges(left=170, right=270),))
    assert find_sidebars(page, [*text, *aside]) == ([aside], text)
    assert find_sidebars(page, [*text, *aside[:2]]) == ([], [*text, *aside[:2]])


def test_items_of_a_list_are_separated_by_their_marks() -> None:
    items = [("1. Causes", 100, 10), ("2. Effects of", 112, 10), ("3. Trees", 124, 10)]
    assert _paragraphs(*items) == [text for text, _, _ in items]
    dashes = [("– one cell", 100, 10), ("– two cells", 112, 10)]
    assert _paragraphs(*dashes) == [text for text, _, _ in dashes]
    assert len(_paragraphs(("as shown in", 100, 10), ("2. Effects", 112, 10))) == 1


def test_first_entries_of_a_bibliography_are_not_footnotes() -> None:
    heading = line_of([replace(item, bold=True) for item in sentence("References", 50, 650, size=12)])
    entries = [printed_line("1. Bee, A.: A book. Town", 680, size=8), printed_line("https://a.example/b", 690, size=8)]
    page = printed_page(2, [])
    assert find_footnotes(page, [heading, *entries]) == []


def test_line_of_small_typewriter_names_stays_in_its_paragraph() -> None:
    names = [*sentence("en_core_web_md_of_old_times", 50, 112, size=8), *sentence("and others of", 190, 112)]
    lines = [
        printed_line("We compare them all with the pipelines", 100),
        line_of(names),
        printed_line("that we know, each of them tuned.", 124),
    ]
    assert lines[1].size == 8
    edges = Edges(left=50, right=max(line.box.x1 for line in lines))
    flow = [FlowLine(page=0, column=0, edges=edges, line=line) for line in lines]
    [paragraph] = paragraphs_of(flow, style=_STYLE)
    assert [line.line for line in paragraph.lines] == lines
