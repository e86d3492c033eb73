"""Headings: which lines are one, where it ends, and its level."""

from dataclasses import replace

import pytest

from ingest.document.pages import PageContent
from ingest.pdf.headings import FoundHeading, LineStyle, cut_run_ins, find_headings, levels_of
from ingest.pdf.layout import BodyStyle, Edges, PageLayout
from ingest.pdf.lines import Line, line_of
from tests.ingest.pdf.words import sentence

PLAIN = "plain words fill the line of this column up to its very end here"


def line(text: str, y: float, *, x0: float = 50, bold: bool = False, italic: bool = False, size: float = 10) -> Line:
    words = sentence(text, x0, y, size=size)
    return line_of([replace(word, bold=bold, italic=italic) for word in words])


def found(lines: list[Line], *, title: tuple[Line, ...] = ()) -> list[FoundHeading]:
    layout = PageLayout(
        content=PageContent(number=1, width=600, height=800),
        words=tuple(word for item in lines for word in item.words),
        lines=tuple(lines),
        edges=(Edges(left=50, right=max(item.box.x1 for item in lines)),),
        body=BodyStyle(size=10, font="Times"),
    )
    return find_headings([layout], [lines], outline=(), title=title)


def test_a_heading_in_italics_over_two_lines_is_one() -> None:
    lines = [
        line(PLAIN, 100),
        line("A. A long name of a part that needs more than one single line to be", 124, italic=True),
        line("set", 136, italic=True),
        line(PLAIN, 152),
    ]
    assert [heading.text for heading in found(lines)] == [f"{lines[1].text} set"]


def test_row_of_a_table_is_not_a_heading() -> None:
    lines = [line(PLAIN, 100), line("File Name", 130, bold=True), line("Meaning", 130, x0=250, bold=True)]
    assert found([*lines, line(PLAIN, 150)]) == []
    assert [heading.text for heading in found([lines[0], lines[1], line(PLAIN, 150)])] == ["File Name"]


def test_square_before_a_heading_is_not_part_of_it() -> None:
    lines = [line(PLAIN, 100), line("■ METHOD", 130, bold=True), line(PLAIN, 150)]
    assert [heading.text for heading in found(lines)] == ["METHOD"]


def test_repeated_title_is_not_a_heading() -> None:
    lines = [line("Foxes at Large", 60, bold=True, size=16), line(PLAIN, 100)]
    assert found(lines, title=(line("Foxes at Large", 60, bold=True, size=18),)) == []
    assert len(found(lines)) == 1


def test_lines_in_italics_are_headings_if_two_are_in_one_style() -> None:
    one = [line(PLAIN, 100), line("Data of foxes", 130, italic=True), line(PLAIN, 144)]
    two = [*one, line(PLAIN, 156), line("Data of dogs", 186, italic=True), line(PLAIN, 200)]
    assert found(one) == []
    assert [heading.text for heading in found(two)] == ["Data of foxes", "Data of dogs"]


def test_entries_that_end_in_italics_are_no_headings() -> None:
    title = [line(PLAIN, 100), line("References", 124, bold=True)]
    entries = [
        line(text, y, italic=text != PLAIN)
        for top in (150, 180, 210)
        for text, y in ((PLAIN, top), ("Foxes 16", top + 14))
    ]
    assert [heading.text for heading in found([*title, *entries])] == ["References"]


def test_a_numbered_run_in_title_is_cut_from_its_paragraph() -> None:
    title, rest = sentence("2.1.3 Case study.", 50, 100), sentence("We look at foxes.", 150, 100)
    whole = line_of([*(replace(word, italic=True) for word in title), *rest])
    [[head, tail]], titles = cut_run_ins([[whole]])
    assert (head.text, tail.text) == ("2.1.3 Case study.", "We look at foxes.")
    assert titles == {head}


@pytest.mark.parametrize("text", ["Case study. We look at foxes.", "2.1 We look at foxes."])
def test_other_paragraphs_stay_whole(text: str) -> None:
    whole = line_of([replace(word, bold=at < 2) for at, word in enumerate(sentence(text, 50, 100))][:3])
    assert cut_run_ins([[whole]]) == ([[whole]], frozenset())


def style(*, size: float = 10, bold: bool = False, italic: bool = False, capitals: bool = False) -> LineStyle:
    return LineStyle(size=size, bold=bold, italic=italic, capitals=capitals)


def test_levels_below_roman_sections_are_letters_and_numbers() -> None:
    texts = ["I. FOXES", "II. DOGS", "A. Data", "1) Yards:", "C. Results", "IV. END"]
    main, sub = style(capitals=True), style(italic=True)
    levels = levels_of(texts, [main, main, sub, sub, sub, main], outlined=[0] * 6)
    assert levels == [1, 1, 2, 3, 2, 1]


def test_levels_of_unnumbered_headings_follow_their_styles() -> None:
    texts = ["Foxes", "In the yard", "Dogs"]
    levels = levels_of(texts, [style(bold=True), style(italic=True), style(bold=True)], outlined=[0] * 3)
    assert levels == [1, 2, 1]


def test_levels_of_appendices_count_their_numbers() -> None:
    assert levels_of(["A Proofs", "A.1 Lemma"], [style(bold=True)] * 2, outlined=[0] * 2) == [1, 2]


@pytest.mark.parametrize(
    "entry", [[line("2.1 Foxes . . . . . . . 7", 130, bold=True)], [line("2 Foxes", 130, bold=True)]]
)
def test_entry_of_a_table_of_contents_is_not_a_heading(entry: list[Line]) -> None:
    text = line(PLAIN, 100)
    number = line("7", 130, x0=text.box.x1 - 5, bold=True)
    assert len(found([text, line("2 Foxes", 130, bold=True), line(PLAIN, 150)])) == 1
    assert found([text, *entry, number, line(PLAIN, 150)]) == []


def test_a_heading_in_lower_case_has_the_style_of_another_heading() -> None:
    lower = [line(PLAIN, 100), line("predict and plot", 130, bold=True), line(PLAIN, 150)]
    assert found(lower) == []
    other = [line("Functions", 180, bold=True), line(PLAIN, 200)]
    assert [heading.text for heading in found([*lower, *other])] == ["predict and plot", "Functions"]


def test_single_letters_are_labels_and_no_heading() -> None:
    assert found([line(PLAIN, 100), line("A B C", 130, size=14), line(PLAIN, 150)]) == []
