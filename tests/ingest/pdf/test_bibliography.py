"""Bibliographies: where entries begin and end."""

from ingest.pdf.bibliography import bibliography_start, find_entries
from ingest.pdf.layout import Edges
from ingest.pdf.lines import line_of
from ingest.pdf.paragraphs import FlowLine
from tests.ingest.pdf.words import word


def _line(text: str, *, y: float, size: float = 10) -> FlowLine:
    line = line_of([word(text, 50, y, size=size)])
    return FlowLine(page=0, column=0, edges=Edges(left=50, right=300), line=line)


def test_larger_print_and_text_after_a_gap_belong_to_no_entry() -> None:
    texts = ["[1] A. Li. A title,", "J. Tests 3, 2001.", "[2] B. Wu. Another,", "J. Tests 4, 2002.", "[3] C. Xu, 2003."]
    listed = [_line(text, y=100 + 12 * index) for index, text in enumerate(texts)]
    address = _line("Department of Tests", y=100 + 12 * 8)
    title = _line("A Large Title", y=100 + 12 * 9, size=14)
    entries, rest = find_entries([*listed, address, title])
    assert [entry.text for entry in entries] == [f"{texts[0]} {texts[1]}", f"{texts[2]} {texts[3]}", texts[4]]
    assert rest == [address, title]


def test_a_bibliography_without_a_title_begins_at_its_first_entry() -> None:
    texts = ["as was shown above.", *(f"[{number}] A. Li, J. Tests {number}, 7 (2001)." for number in range(1, 7))]
    lines = [_line(text, y=100 + 12 * index) for index, text in enumerate(texts)]
    assert bibliography_start(lines) == 1
    assert bibliography_start(lines[:4]) is None
    assert bibliography_start(lines[4:], after=3) == 0


def test_a_bibliography_of_raised_numbers_needs_no_title() -> None:
    texts = [
        "as was shown above.",
        *(f"{mark}A. Li, J. Tests {index}, 7 (2001)." for index, mark in enumerate("³⁴⁵⁶⁷")),
    ]
    lines = [_line(text, y=100 + 12 * index) for index, text in enumerate(texts)]
    assert bibliography_start(lines) == 1
