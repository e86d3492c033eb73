"""Numbers of labels are no quantities, and numbers are read in the forms in which papers print them."""

import pytest

from query.numbers import numbers_in, scales_in, without_labels


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("cited on page 1, 2, 5.", []),
        ("on pages 1, 2, and 105", []),
        ("in Sections 2, 3.1, and 4.2 (pp. 3–5; p. 7)", []),
        ("Section 3.1, 3.2 and 4", []),
        ("Page numbers: 7 and 9", []),
        ("references 12, 15 and 29; Fig. S3, Eqs. (13)–(15)", []),
        ("On page 7, 64 people", ["64"]),
        ("Table 8, 93.14 is best", ["93.14"]),
        ("In Tables 3 and 4, 93.14 is best", ["93.14"]),
        ("Figs. 3 and 4, 12% of them", ["12%"]),
        ("p = 0.05, P. 12 and p. 0.05", ["0.05", "0.05"]),
        ("466 (85·5) in 18·8 km", ["466", "85.5", "18.8"]),
        ("3·10−4 and 3 · 4", ["3", "10", "4", "3", "4"]),
        ("a rate of 2e-4, 1.5E3", ["2", "10", "4", "1.5", "103"]),
        ("\ufffd0.76, 0.\ufffd6 and 4\ufffd but 12", ["12"]),
        ("p \ufffd 0.001 in 3 of 4", ["3", "4"]),
        ("1.2 × 10^3 and 1.2 × 10³", ["1.2", "103", "1.2", "103"]),
    ],
)
def test_quantities_of_a_text(text: str, numbers: list[str]) -> None:
    assert [number.text.removesuffix(" km") for number in numbers_in(text)] == numbers


def test_a_row_or_a_column_may_be_a_name() -> None:
    assert without_labels("in column (1) of Table 2", keeps_positions=True).split() == ["in", "column", "(1)", "of"]


@pytest.mark.parametrize(
    ("text", "scales"),
    [("cost (in $ million)", {10**6}), ("Thousands", {1000}), ("params ×10⁶", {10**6}), ("cost", set())],
)
def test_scales_that_a_header_names(text: str, scales: set[int]) -> None:
    assert set(map(int, scales_in(text))) == scales


def test_a_number_without_its_scale() -> None:
    [number] = numbers_in("610 million")
    assert [int(one.value) for one in (number, number.unscaled)] == [610 * 10**6, 610]
