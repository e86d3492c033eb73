"""Page numbers, line numbers and stamps."""

from dataclasses import replace

import pytest

from ingest.document.pages import PageContent
from ingest.pdf.furniture import find_furniture, find_stamp
from ingest.pdf.layout import PageLayout
from ingest.pdf.line_numbers import find_line_numbers
from tests.ingest.pdf.words import chars, printed_line, printed_page, sentence, word


def test_raised_numbers_of_a_list_are_not_line_numbers() -> None:
    entries = [item for row in range(25) for item in sentence("some words of an entry", 60, 100 + 20 * row)]
    marks = [word(str(row + 1), 52, 97 + 20 * row, size=6) for row in range(25)]
    assert find_line_numbers([entries + marks]) == [[]]


def test_line_numbers_but_not_numbers_in_the_text() -> None:
    text = [item for row in range(24) for item in sentence("7 plain words stand here", 60, 100 + 12 * row)]
    ruler = [word(str(row + 41), 30, 100 + 12 * row, size=6) for row in range(24)]
    assert find_line_numbers([text + ruler]) == [[ruler]]
    counted = [word(str(row + 1), 60, 400 + 12 * row) for row in range(20)]
    assert find_line_numbers([text + counted]) == [[]]


def test_numbers_that_count_along_with_the_pages_are_page_numbers() -> None:
    layouts = [printed_page(at, [("text of the page", 500), (str(at + 6), 640)]) for at in (1, 2, 3)]
    found = find_furniture(layouts, [layout.lines for layout in layouts])
    assert [[line.text for line in lines] for lines in found] == [["7"], ["8"], ["9"]]


def test_what_is_printed_below_a_page_number_is_furniture() -> None:
    imprint = [("6981", 750.0), ("Proceedings of a Meeting", 762.0), ("Volume 1, pages 6981-7004", 773.0)]
    first = printed_page(1, [("text of the page", 738), *imprint])
    layouts = [first, *(printed_page(at, [("text of the page", 500), (str(at + 6980), 750)]) for at in (2, 3))]
    found = find_furniture(layouts, [layout.lines for layout in layouts])
    assert {line.text for line in found[0]} == {text for text, _ in imprint}


def test_the_last_line_of_a_manuscript_with_wide_spaces_is_text() -> None:
    rows = [("a line of the manuscript", 100.0 + 24 * row) for row in range(28)]
    layout = printed_page(1, rows)
    assert layout.lines[-1].baseline > 740
    assert find_furniture([layout], [layout.lines]) == [frozenset()]
    dense = printed_page(1, [*((text, 100 + 12.0 * row) for row, (text, _) in enumerate(rows)), ("A notice", 748)])
    assert [line.text for line in find_furniture([dense], [dense.lines])[0]] == ["A notice"]


def test_the_large_type_at_the_edge_of_an_only_page_is_its_title() -> None:
    text = printed_page(1, [("some text of it", 300), ("and some more", 312)])
    title, notice = (printed_line("Rivers that Remember", 40, size=size) for size in (24, 10))
    for line, kept in ((title, True), (notice, False)):
        page = replace(text, lines=(line, *text.lines))
        assert (find_furniture([page], [page.lines]) == [frozenset()]) is kept


def test_the_lines_of_a_page_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = list[PageLayout]()

    def leading(layout: PageLayout) -> float:
        measured.append(layout)
        return 2.0

    monkeypatch.setattr(PageLayout, "leading", property(leading))
    margin = [(f"a note in the margin {letter}", 745 + 2.0 * row) for row, letter in enumerate("abcdefghij")]
    layouts = [printed_page(at, [("text of the page", 500), *margin]) for at in (1, 2)]
    assert len(find_furniture(layouts[:1], [layouts[0].lines])[0]) == len(margin)
    find_furniture(layouts, [layout.lines for layout in layouts])
    assert len(measured) <= 1 + len(layouts)


def test_other_numbers_below_the_text_are_text() -> None:
    layouts = [printed_page(at, [("text of the page", 500), (str(at * at), 640)]) for at in (1, 3, 5, 7)]
    assert not any(find_furniture(layouts, [layout.lines for layout in layouts]))


def test_text_up_the_margin_is_a_stamp_if_it_is_arxivs() -> None:
    def stamped(text: str) -> PageContent:
        upwards = tuple(char._replace(direction=3) for char in chars(text, 300, 30, size=20))
        return PageContent(number=1, width=600, height=800, chars=(*chars("plain text", 60, 100), *upwards))

    found = find_stamp(stamped("arXiv:2312.04350v3 [cs.CL] 17 Jan 2024"))
    assert found is not None
    text, box = found
    assert text == "arXiv:2312.04350v3 [cs.CL] 17 Jan 2024"
    assert box.x1 <= 35
    assert box.y1 <= 500
    assert find_stamp(stamped("Entities per page")) is None
