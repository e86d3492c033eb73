"""The wording of captions: labels and continuation notes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.captions import is_continuation_note, normalized_label, opens_continuation


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
