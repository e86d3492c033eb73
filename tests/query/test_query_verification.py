"""Numbers are read as printed and checked against the evidence."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope.types import Box, Claim, Evidence, Passage, Place
from query import Cited, verify
from query.numbers import numbers_in

HERE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))


def claim(text: str, *quotes: str) -> Claim:
    return Claim(text=text, evidence=tuple(Evidence(element="p/table-1", place=HERE, quote=quote) for quote in quotes))


def check(text: str, *quotes: str, table: str = "", question: str = "") -> tuple[str, ...]:
    element = Passage(id="p/table-1", place=HERE, order=1, text=table)
    cited = Cited(elements={element.id: element})
    return verify(question=question, text=text, claims=[claim(text, *quotes)], cited=cited).warnings


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234 of 5 678", ["1234", "5", "678"]),
        ("−0.53 and +0.97", ["0.53", "0.97"]),
        ("94.90%, 3 percent", ["94.9", "3"]),
        ("170K, 6.52M, 2 billion", ["170000", "6520000", "2000000000"]),
        ("84.0±0.3 (+1.41)", ["84.0", "0.3", "1.41"]),
        ("F1 on SST-5, CTB6 and BERT+2", []),
        ("Table 8, 93.14 is highest; see Figs. 2 and 3 (Li et al., 2019) [12]", ["93.14"]),
        ("It flies for 38 minutes. (lines 11-212), (line 6)", ["38"]),
        ("ends with 12.", ["12"]),
        ("1,2", ["1", "2"]),
        (".5", ["0.5"]),
        ("", []),
    ],
)
def test_numbers(text: str, values: list[str]) -> None:
    assert [number.value for number in numbers_in(text)] == [Decimal(value) for value in values]


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("It scores 94.9.", ["94.90"]),
        ("It scores 1,234.", ["1234"]),
        ("It falls by −0.5.", ["falls by 0.5"]),
        ("It is 73%.", ["0.73"]),
        ("It has 5 steps.", ["has five steps"]),
        ("It is 0.53 better.", ["94.90", "94.37"]),
        ("The ratio is 4.98.", ["168.8", "33.9"]),
        ("It is 25% more.", ["125", "100"]),
        ("The mean is 95.", ["94", "96"]),
        ("Both have 12.", ["5", "7"]),
        ("170K are negative.", ["170,000"]),
    ],
)
def test_what_stands_in_the_evidence_or_follows_from_it_is_supported(text: str, quotes: list[str]) -> None:
    assert check(text, *quotes) == ()


@pytest.mark.parametrize(
    ("text", "quotes", "number"),
    [
        ("It scores 94.8.", ["94.90"], "94.8"),
        ("It is 0.54 better.", ["94.90", "94.37"], "0.54"),
        ("It has 2 parts.", ["94.90", "43.1"], "2"),
        ("It is 73%.", ["0.72"], "73%"),
    ],
)
def test_any_other_number_is_quoted_in_a_warning(text: str, quotes: list[str], number: str) -> None:
    [warning] = check(text, *quotes)
    assert f"the number {number} is not" in warning


def test_numbers_of_the_question_and_of_the_cited_element_are_known() -> None:
    assert check("With 7 layers it scores 88.1.", "a", table="x | 88.1", question="What with 7 layers?") == ()


def test_a_table_full_of_numbers_does_not_justify_computed_ones() -> None:
    row = " | ".join(f"{value / 7:.2f}" for value in range(600, 700, 3))
    assert len(check("It is 0.43 better.", row, table=row)) == 1
    stated = "It is 0.43 better (86.14 against 85.71)."
    assert check(stated, row, table=row) == ()


def test_claims_without_evidence_and_answers_without_claims_are_flagged() -> None:
    assert "no evidence is cited for 'It works.'" in check("It works.")
    assert verify(question="", text="Yes.", claims=[], cited=Cited()).warnings == ("the answer cites no evidence",)


def test_the_answers_own_text_may_rest_on_any_claim() -> None:
    claims = [claim("A has 94.90.", "94.90"), claim("B has 94.37.", "94.37")]
    assert verify(question="", text="A is 0.53 better.", claims=claims, cited=Cited()).warnings == ()
    assert len(verify(question="", text="A is 0.55 better.", claims=claims, cited=Cited()).warnings) == 1


@given(st.decimals(0, 10**7, places=2, allow_nan=False, allow_infinity=False))
def test_a_number_supports_itself_however_it_is_printed(value: Decimal) -> None:
    for printed in (f"{value}", f"{value:,}", f"{value.normalize():f}", f"+{value}"):
        assert check(f"It is {printed} in all.", f"{value}") == ()


@given(st.integers(13, 10**6), st.integers(13, 10**6))
def test_a_number_that_is_not_in_the_evidence_is_flagged(printed: int, claimed: int) -> None:
    assert bool(check(f"It is {claimed} in all.", f"{printed}")) == (printed != claimed)


@given(st.text(), st.text(), st.text())
def test_any_text_can_be_checked(question: str, text: str, quote: str) -> None:
    warnings = check(text, quote, question=question)
    assert sum(warning.startswith("the number") for warning in warnings) <= len(list(numbers_in(text)))
