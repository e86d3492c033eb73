"""Names of questions, cell values, and the index of a table."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.types import Table
from query.extractive.question import read_question
from query.extractive.table_index import index_table, number_text, read_value
from query.extractive.wording import Vocabulary, names_in, strip_citations, strip_remark, tokens, unmentioned


def words(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def test_tokens_keep_signs_that_tell_names_apart() -> None:
    assert words("anti-CD20+IL2") == ["anti", "cd20", "+", "il2"]
    assert words("- control") == ["-", "control"]
    assert words("v1.1 and 1,234 doses") == ["v1.1", "and", "1,234", "dose"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What dose of Cisplatin did arm B2 get?", ["Cisplatin", "B2"]),
        ("Was the GPT-4o score reported?", ["GPT-4o"]),
        ("What is the yield? Please write the answer in JSON.", []),
        ("What Is The Yield Of Maize?", []),
        ("how tall are the plants?", []),
    ],
)
def test_names_are_coded_words_and_capitals_within_a_sentence(question: str, names: list[str]) -> None:
    assert names_in(question) == names


@pytest.mark.parametrize(
    ("name", "missing"),
    [("OntoNotes", False), ("Onto Notes", False), ("Cisplatin", False), ("GPT-4o", True), ("Carboplatin", True)],
)
def test_what_no_vocabulary_holds_is_unmentioned(name: str, missing: bool) -> None:
    known = Vocabulary(["We use Onto Notes and GPT-4.", "Cisplatins were given."])
    assert unmentioned(name, [known]) is missing


@given(st.lists(st.text(alphabet="abcdefgh", min_size=4, max_size=9), min_size=1, max_size=8))
def test_no_word_of_a_text_is_unmentioned(parts: list[str]) -> None:
    known = Vocabulary([" ".join(parts)])
    assert not any(unmentioned(part.capitalize(), [known]) for part in parts)


def test_citations_and_remarks_are_stripped_but_never_everything() -> None:
    assert strip_citations("Kriging (Cressie et al., 1993)") == "Kriging"
    assert strip_citations("[12]") == "[12]"
    assert strip_remark("Latency (ms)") == "Latency"
    assert strip_remark("(ms)") == "(ms)"


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
        ("3.3 · 10^18", 3.3e18),
        ("2.0e-5", 2.0e-5),
        ("1 × 10^999", None),
        pytest.param("9" * 5000, None, id="many digits"),
        ("–", None),
        ("", None),
        ("base", None),
        ("4 layers deep", None),
        ("59.49/60.92", None),
    ],
)
def test_cell_values(text: str, number: float | None) -> None:
    assert read_value(text).number == (number if number is None else pytest.approx(number))


@given(st.decimals(min_value=-9999, max_value=9999, places=2, allow_nan=False))
def test_printed_numbers_are_read_back(number: object) -> None:
    value = read_value(str(number))
    assert value.number == pytest.approx(float(str(number)))
    assert value.decimals == 2


@given(st.text(max_size=30))
def test_any_cell_and_any_question_is_read(text: str) -> None:
    assert read_value(text).number == read_value(text).number
    assert read_question(text) == read_question(text)


def test_a_computed_number_has_a_true_minus_and_no_negative_zero() -> None:
    assert number_text(-0.531, 2) == "−0.53"
    assert number_text(-0.001, 2) == "0.00"


def test_an_empty_stub_repeats_the_one_above_and_words_qualify_a_row(make_table: Callable[..., Table]) -> None:
    rows = [["Model", "Layers", "Backbone", "AP"], ["A", "12", "ResNet", "40"], ["", "24", "ViT", "42"]]
    cells = [cell for cell in index_table(make_table(rows, stubs=2)).cells if cell.value.number is not None]
    assert [cell.row_name for cell in cells] == ["A / 12 / ResNet", "A / 24 / ViT"]
    assert [cell.column_name for cell in cells] == ["AP", "AP"]


def test_a_section_of_dashed_rows_ends_with_them(make_table: Callable[..., Table]) -> None:
    rows = [["Model", "Acc"], ["InstructGPT"], ["- Direct", "56"], ["- CoT", "57"], ["Codex", "55"]]
    assert [cell.column_name for cell in index_table(make_table(rows)).cells] == ["InstructGPT Acc"] * 2 + ["Acc"]
    signs = [["Model", "Acc"], ["Ablation"], ["full", "56"], ["- attention", "57"], ["+ data", "55"]]
    assert [cell.column_name for cell in index_table(make_table(signs)).cells] == ["Ablation Acc"] * 3
