"""Words in the form in which they are compared, and the index of a table."""

from collections.abc import Callable

import pytest

from paperscope_core.types import Table
from query.extractive.table_index import index_table
from query.extractive.wording import strip_citations, strip_remark, tokens


def words(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def test_tokens_keep_signs_that_tell_names_apart() -> None:
    assert words("anti-CD20+IL2") == ["anti", "cd20", "+", "il2"]
    assert words("- control") == ["-", "control"]
    assert words("v1.1 and 1,234 doses") == ["v1.1", "and", "1,234", "dose"]


def test_citations_and_remarks_are_stripped_but_never_everything() -> None:
    assert strip_citations("Kriging (Cressie et al., 1993)") == "Kriging"
    assert strip_citations("[12]") == "[12]"
    assert strip_remark("Latency (ms)") == "Latency"
    assert strip_remark("(ms)") == "(ms)"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("92.11 (+0.81)", True),
        ("88.7±0.3", True),
        ("12.3†", True),
        ("1,234", True),
        ("45%", True),
        ("−0.5", True),
        ("170K", True),
        ("3.3 · 10^18", True),
        ("2.0e-5", True),
        pytest.param("9" * 5000, True, id="many digits"),
        ("base", False),
        ("4 layers deep", False),
        ("59.49/60.92 s", False),
    ],
)
def test_words_among_numbers_name_their_row(make_table: Callable[..., Table], text: str, number: bool) -> None:
    first, second = index_table(make_table([["Model", "Size", "AP"], ["A", text, "40"]])).cells
    assert (second.row_name == "A") is number
    assert first.row_name == "A"


def test_an_empty_stub_repeats_the_one_above_and_words_qualify_a_row(make_table: Callable[..., Table]) -> None:
    rows = [["Model", "Layers", "Backbone", "AP"], ["A", "12", "ResNet", "40"], ["", "24", "ViT", "42"]]
    cells = [cell for cell in index_table(make_table(rows, stubs=2)).cells if cell.column_name == "AP"]
    assert [cell.row_name for cell in cells] == ["A / 12 / ResNet", "A / 24 / ViT"]


def test_a_section_of_dashed_rows_ends_with_them(make_table: Callable[..., Table]) -> None:
    rows = [["Model", "Acc"], ["InstructGPT"], ["- Direct", "56"], ["- CoT", "57"], ["Codex", "55"]]
    assert [cell.column_name for cell in index_table(make_table(rows)).cells] == ["InstructGPT Acc"] * 2 + ["Acc"]
    signs = [["Model", "Acc"], ["Ablation"], ["full", "56"], ["- attention", "57"], ["+ data", "55"]]
    assert [cell.column_name for cell in index_table(make_table(signs)).cells] == ["Ablation Acc"] * 3
