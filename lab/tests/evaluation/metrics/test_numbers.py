"""Numbers in free text: what is read, and what counts as the same."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paperscope_lab.evaluation.metrics.numbers import as_number, numbers_in, numbers_recall, same_number, stated_numbers
from paperscope_lab.evaluation.metrics.sets import best_assignment


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234.5", ["1234.5"]),
        ("12\u202f345 and 1\u2009234\u2009567", ["12345", "1234567"]),
        ("1,2,3", ["1", "2", "3"]),
        ("1.2 million of 7B, 3.3k and two thousand", ["1.2e6", "7e9", "3300", "2000"]),
        ("93.33% or 5 percentage points", ["93.33", "5"]),
        ("From 3 to 5 percentage gains, 7 Percentage and 6 per cent", ["3", "5", "7", "6"]),
        ("88.7 ± 0.3, 88.7±.3", ["88.7", "88.7"]),
        ("88.7% (±0.3%) and 5 +/- 1", ["88.7", "5"]),
        ("1e-3, 2.5E+2", ["0.001", "250"]),
        ("2.3 · 10^19, 2.3 × 10¹⁹, 2.3x10^{19}, 5 × 10⁻⁵", ["2.3e19", "2.3e19", "2.3e19", "5e-5"]),
        ("$1 \\times 10^{-2}$, 10^(-5), 3 * 10-4", ["0.01", "1e-5", "3e-4"]),
        ("1 \times 10^{-2}", ["0.01"]),
        ("−5, –0.5, +1.41 and (-2)", ["-5", "-0.5", "1.41", "-2"]),
        ("10–20, 3-4 and 8x faster; 10%-20%, (3)-4", ["10", "20", "3", "4", "8", "10", "20", "3", "4"]),
        ("8 x 1024", ["8", "1024"]),
        ("F1, SST-5, GPT-4, 3D, 4th, 1.2.3, x_5, the 1990s", []),
        ("Llama2-7B beats Qwen1.5-72B by 0.5 B and 580 M, 3.08 B-1", ["0.5e9", "580e6", "3.08"]),
        ("Seven or twenty, but not twenty-five", ["7", "20"]),
        ("One of the three; no one; the one; one-to-one", ["3"]),
        ("one layer, 5-fold, 3-second", ["1", "5", "3"]),
        ("93.1² and .5.", ["93.1", "0.5"]),
        ("50\\% of 1{,}234", ["50", "1234"]),
        ("9" * 20 + " and 1e999", ["9" * 20, "1e999"]),
        ("", []),
    ],
)
def test_what_is_read(text: str, values: list[str]) -> None:
    assert [number.value for number in numbers_in(text)] == [Decimal(value) for value in values]


@pytest.mark.parametrize(
    ("text", "kind", "size"),
    [
        ("5 %", "share", "0.01"),
        ("5 per cent", "share", "0.01"),
        ("five points", "share", "0.01"),
        ("3 ms", "time", "0.001"),
        ("3-second", "time", "1"),
        ("16GB", "bytes", "1e9"),
        ("2.4 GHz", "frequency", "1e9"),
        ("5 US dollars", "", "1"),
        ("5 HR", "", "1"),
        ("5 secondary", "", "1"),
    ],
)
def test_units(text: str, kind: str, size: str) -> None:
    (number,) = numbers_in(text)
    assert (number.kind, number.size) == (kind, Decimal(size))


def test_a_text_that_is_a_number() -> None:
    number = as_number(" 93.14 %. ")
    assert number is not None
    assert number.value == Decimal("93.14")
    assert as_number("two") is not None
    assert [as_number(text) for text in ("93.14 F1", "about 5", "5 or 6", "", "GPT-4")] == [None] * 5


def states_all(gold: str, predicted: str) -> bool:
    """Whether each number of the gold text has its own equal among those of the prediction."""
    wanted = numbers_in(gold)
    return bool(wanted) and best_assignment(wanted, numbers_in(predicted), worth=same_number) == len(wanted)


@pytest.mark.parametrize(
    ("gold", "predicted", "same"),
    [
        ("0.93", "0.931", True),
        ("0.93", "0.936", False),
        ("0.931", "0.93", False),
        ("170K", "169,700", True),
        ("2.3 × 10^19", "2.31e19", True),
        ("2.3 × 10^19", "2.4e19", False),
        ("5", "5.0", True),
        ("5", "5.4", False),
        ("60%", "60.4 percent", True),
        ("93.33%", "0.9333", True),
        ("0.93", "93%", True),
        ("93", "93%", True),
        ("0.93%", "93%", False),
        ("1.5 s", "1500 ms", True),
        ("1.79", "1.79 ms", True),
        ("16 GB", "16,000 MB", True),
        ("16 GB", "16 s", False),
        ("16 GB", "16 GHz", False),
        ("-0.5", "0.5", False),
        ("+0.5", "0.5", True),
        ("five", "5", True),
        ("54.63 and 55.19", "55.19 is more than 54.63, by 0.56", True),
        ("54.63 and 55.19", "55.19", False),
        ("1.0 and 1.04", "1.04, 1.0", True),
        ("2 and 2", "2", False),
        ("no number", "no number", False),
    ],
)
def test_matching(gold: str, predicted: str, same: bool) -> None:
    assert states_all(gold, predicted) is same


def test_what_the_question_did_not_give() -> None:
    question = "What do the 12 layers of Table 8 reach after 50 % of the steps?"
    answer = "With 12 layers, Table 8 (page 4) gives 93.14 after half [3, 5] of the steps, and 94.00 after 0.5."
    assert [number.text for number in stated_numbers(answer, question)] == ["93.14", "94.00"]
    assert [number.text for number in stated_numbers(answer)] == ["12", "93.14", "94.00", "0.5"]


def test_labels_count_where_there_is_nothing_else() -> None:
    assert [number.text for number in stated_numbers("In Table 8.")] == ["8"]
    assert [number.text for number in stated_numbers("[2, 3]")] == ["2", "3"]


def test_recall_of_the_gold_texts_numbers() -> None:
    gold = "BERT+DL reaches 54.63 on SST-5, 0.56 less than the 55.19 of the 2 others; 54.63 is low."
    tally = numbers_recall(gold, "It falls from 55.19 to 54.63, by −0.56.", "Which of the 2 is better?")
    assert (tally.right, tally.total) == (3, 3)
    assert numbers_recall(gold, "54.6").right == 0
    assert numbers_recall("-0.5", "+0.5").right == 0
    assert numbers_recall("1.0 and 1.04", "1.04").right == 1
    assert numbers_recall("no number", "5").total == 0


NUMBERS = st.decimals(-(10**6), 10**6, places=2).map(lambda value: f"{value:f}")


@given(NUMBERS)
def test_a_number_is_itself_however_it_is_printed(text: str) -> None:
    value = Decimal(text)
    for other in (f"{value:,}", text.replace("-", "−"), f"so {text}.", f"{value / 1000:f} thousand", f"{value:E}"):
        assert states_all(text, other)
        assert states_all(other, text)


@given(NUMBERS, NUMBERS)
def test_rounding_to_the_golds_decimals_gives_the_gold(gold: str, predicted: str) -> None:
    short = f"{Decimal(gold):.1f}"
    near = abs(Decimal(short) - Decimal(predicted)) <= Decimal("0.05")
    assert states_all(short, predicted) is near


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_can_be_read(gold: str, predicted: str) -> None:
    assert 0 <= numbers_recall(gold, predicted).share <= 1
    if numbers_in(gold):
        assert states_all(gold, gold)


@given(st.text(st.sampled_from("1.,5e-+±x*^10% kM(){}$\\ "), max_size=25))
def test_any_figure_can_be_read(text: str) -> None:
    for number in numbers_in(text):
        assert number.value.is_finite()
        assert number.step >= 0
    assert not numbers_in(text) or states_all(text, text)
