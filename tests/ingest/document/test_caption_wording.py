"""The wording of captions and headings: labels, continuation notes, numbers and fixed titles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.caption_wording import (
    is_continuation_note,
    is_references_title,
    normalized_label,
    opens_continuation,
    split_number,
)


@pytest.mark.parametrize(
    ("word_", "number", "label"),
    [
        ("Tab.", "5", "Table 5"),
        ("TABLE", "S1", "Table S1"),
        ("Fig.", "3", "Figure 3"),
        ("Figures", "A.2", "Figure A.2"),
    ],
)
def test_labels_are_normalised(word_: str, number: str, label: str) -> None:
    assert normalized_label(word_, number) == label


@pytest.mark.parametrize(
    "text",
    [
        "Continued on next page",
        "(Continued)",
        "Table 2 (continued)",
        "Table 2.7 – continued from previous page",
        "Table 4: Cont.",
        "cont'd",
        "Continued on the following page …",
    ],
)
def test_continuation_notes(text: str) -> None:
    assert is_continuation_note(text)


@pytest.mark.parametrize("text", ["Continued training improves all scores", "Content", "Table 2", "Control", ""])
def test_texts_that_are_not_continuation_notes(text: str) -> None:
    assert not is_continuation_note(text)
    assert not opens_continuation(text)


@given(st.sampled_from(["(continued)", "Continued.", "— continued:", "Cont.", "(cont’d):"]), st.text(alphabet="ab "))
def test_caption_that_begins_with_a_continuation_note(note: str, rest: str) -> None:
    assert opens_continuation(f"{note} {rest}")


@pytest.mark.parametrize(
    ("text", "number", "title"),
    [
        ("4.2 Results", "4.2", "Results"),
        ("1. Introduction", "1", "Introduction"),
        ("A.1 Data", "A.1", "Data"),
        ("IV. METHOD", "IV", "METHOD"),
        ("Conclusion", "", "Conclusion"),
    ],
)
def test_heading_numbers(text: str, number: str, title: str) -> None:
    assert split_number(text) == (number, title)


def test_the_bibliography_is_known_by_its_title() -> None:
    assert is_references_title("7 References")
    assert is_references_title("Bibliography")
    assert is_references_title("REFERENCES AND NOTES")
    assert is_references_title("Notes and references")
    assert not is_references_title("Results")
