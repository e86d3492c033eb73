"""The places in an answer's text at which its claims are marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.text.citation_marks import place_marks, split_at_marks

BOTH = "The tagger has 0.83, and the parser has 0.91."


@pytest.mark.parametrize(
    ("text", "claims", "marked"),
    [
        ("A is 1.5.\n B is 2.5.", ["B is\n2.5."], ["A is 1.5.\n B is 2.5."]),
        (
            BOTH,
            ["An F1 of 0.91 is the parser's.", "The F1 of the tagger is 0.83."],
            [BOTH, "The tagger has 0.83,"],
        ),
        ("The tagger has 0.83.", ["Nothing else is known about corpora."], [None]),
        ("Die Genauigkeit beträgt 91 %.", ["Genauigkeit: 91 %"], ["Die Genauigkeit beträgt 91 %."]),
        ("標註器的召回率是0.97。語料很小。", ["召回率為0.97"], ["標註器的召回率是0.97。"]),
        ("The 𝑤 is 1. The 𝑣 is 2.", ["The 𝑤 is 1."], ["The 𝑤 is 1."]),
        ("", ["A claim."], [None]),
        ("A text.", ["", "?"], [None, None]),
    ],
)
def test_claims_are_marked_where_the_text_states_them(text: str, claims: list[str], marked: list[str | None]) -> None:
    marks = place_marks(text, claims)
    assert [None if mark is None else text[:mark] for mark in marks] == marked


@given(st.text(), st.lists(st.text(), max_size=4))
def test_the_parts_are_the_text_and_have_each_mark_once(text: str, claims: list[str]) -> None:
    marks = place_marks(text, [*claims, text[:5]])
    parts = list(split_at_marks(text, marks))
    assert "".join(part for part, _ in parts) == text
    marked = [claim for claim, mark in enumerate(marks) if mark is not None]
    assert sorted(claim for _, found in parts for claim in found) == marked
