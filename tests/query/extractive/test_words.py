"""Words, cell values and weights: the ground the embedded answerer stands on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.extractive.numbers import number_text, read_value
from query.extractive.words import beginning, likeness, names_joined, strip_citations, strip_remark, tokens


def folded(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def test_tokens_keep_signs_that_tell_names_apart() -> None:
    assert folded("BERT-MRC+DSC") == ["bert", "mrc", "+", "dsc"]
    assert folded("- negative") == ["-", "negative"]
    assert folded("+ positive & negative") == ["+", "positive", "negative"]
    assert folded("OntoNotes4.0, v1.1 and 1,234") == ["ontonotes4.0", "v1.1", "and", "1,234"]


@pytest.mark.parametrize(
    ("one", "other", "least", "most"),
    [
        ("score", "score", 1.0, 1.0),
        ("models", "model", 0.9, 0.9),
        ("calculate", "calculated", 0.9, 0.9),
        ("prec", "precision", 0.7, 0.7),
        ("onto4.0", "ontonotes4.0", 0.7, 0.7),
        ("params", "parameters", 0.7, 0.7),
        ("r", "recall", 0.9, 0.9),
        ("f1", "f2", 0.0, 0.0),
        ("onto4.0", "ontonotes5.0", 0.0, 0.0),
        ("bert", "xlnet", 0.0, 0.0),
    ],
)
def test_likeness(one: str, other: str, least: float, most: float) -> None:
    assert least <= likeness(one, other) <= most


@given(st.lists(st.sampled_from(["p", "r", "avg", "av", "prec", "precision", "recall", "average", "s"]), max_size=3))
def test_words_of_any_likeness_begin_alike(parts: list[str]) -> None:
    words = ["p", "r", "avg", "precisions", "recall", "averages", "".join(parts), *parts]
    alike = [(one, other) for one in words for other in words if likeness(one, other) > 0]
    assert all(beginning(one) == beginning(other) for one, other in alike)


@given(st.text(alphabet="abcdef12.", max_size=8), st.text(alphabet="abcdef12.", max_size=8))
def test_likeness_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert likeness(one, other) == likeness(other, one)
    assert 0.0 <= likeness(one, other) <= 1.0
    assert likeness(one, one) == 1.0


def test_joined_names_are_groups_and_function_words_stay_outside() -> None:
    text = "How does PaLM-2L + RAG do with + positive data?"
    words = tokens(text)
    groups = [{words[index].text for index in group} for group in names_joined(text, words)]
    assert {"palm", "2l", "+", "rag"} in groups
    assert {"+", "positive"} in groups
    assert all("with" not in group and "does" not in group for group in groups)


def test_citations_and_remarks_are_stripped_but_never_everything() -> None:
    assert strip_citations("BERT-MRC(Li et al., 2019)") == "BERT-MRC"
    assert strip_citations("Lattice-LSTM (Zhang and Yang, 2018)") == "Lattice-LSTM"
    assert strip_citations("ByteNet [18]") == "ByteNet"
    assert strip_citations("[12]") == "[12]"
    assert strip_remark("Step-Back (ours)") == "Step-Back"
    assert strip_remark("(ours)") == "(ours)"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("92.11 (+0.81)", 92.11),
        ("88.7±0.3", 88.7),
        ("12.3†", 12.3),
        ("1,234", 1234.0),
        ("45%", 45.0),
        ("−0.5", -0.5),
        ("170K", 170_000.0),
        ("1.96M", 1_960_000.0),
        ("3.3 · 10^18", 3.3e18),
        ("2.0e-5", 2.0e-5),
        (".55", 0.55),
        ("–", None),
        ("", None),
        ("base", None),
        ("4 layers deep", None),
        ("59.49/60.92", None),
    ],
)
def test_cell_values(text: str, number: float | None) -> None:
    assert read_value(text).number == (number if number is None else pytest.approx(number))


@pytest.mark.parametrize(
    ("text", "change", "printed"),
    [
        ("92.11 (+0.81)", 0.81, "+0.81"),
        ("95.67 (-0.08)", -0.08, "−0.08"),
        ("91.86(+0.56)", 0.56, "+0.56"),
        ("71.2 (↑1.3)", 1.3, "+1.3"),
        ("45.8 (-8.8%)", -8.8, "−8.8%"),
        ("66.4% (0.8%)", None, ""),
        ("88.7±0.3", None, ""),
    ],
)
def test_annotations(text: str, change: float | None, printed: str) -> None:
    value = read_value(text)
    assert value.change == (change if change is None else pytest.approx(change))
    assert value.change_text == printed


@given(st.decimals(min_value=-9999, max_value=9999, places=2, allow_nan=False))
def test_printed_numbers_are_read_back(number: object) -> None:
    value = read_value(str(number))
    assert value.number == pytest.approx(float(str(number)))
    assert value.decimals == 2


@given(st.text(max_size=30))
def test_any_cell_text_is_read(text: str) -> None:
    value = read_value(text)
    assert value.number is None or value.number == value.number


def test_a_computed_number_has_a_true_minus_and_no_negative_zero() -> None:
    assert number_text(-0.531, 2) == "−0.53"
    assert number_text(-0.001, 2) == "0.00"
