"""A large table is reduced to what the question is about, and says so; its grid is never cut off."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.models.token_counting import count_tokens
from paperscope_core.types import Context, ContextSource, Table
from paperscope_core.types.elements import title_lines
from paperscope_core.types.tables import table_lines
from query import render_context
from query.retrieval.context_builder import table_excerpt
from tests.context_parsing import parse_context
from tests.query.conftest import place, table

NAMES = st.text('abc:"\n,', max_size=6)
GRIDS = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(NAMES, min_size=width, max_size=width), min_size=1, max_size=12)
)


def wide(rows: int = 92, columns: int = 30) -> Table:
    head = ["Model", *(f"Set{column}" for column in range(1, columns))]
    body = [[f"model-{row}", *(f"{row}.{column:02}" for column in range(1, columns))] for row in range(rows)]
    return table(7, 1, "All scores.", [head, *body], "3 Results")


def excerpt(question: str, tokens: int, of: Table | None = None) -> list[str]:
    return table_excerpt(of or wide(), question, tokens=tokens, count=count_tokens).splitlines()


def test_rows_and_columns_that_the_question_names_are_kept_under_their_headers() -> None:
    title, header, *rows, last = excerpt("What does model-57 reach on Set12 and Set3?", 200)
    assert title == "Table 7: All scores."
    assert header == "Columns: Model | Set3 | Set12"
    assert "model-57 | Set3: 57.03 | Set12: 57.12" in rows
    assert last == f"… {len(rows)} of 92 rows, 3 of 30 columns shown"
    assert count_tokens("\n".join((title, header, *rows, last))) <= 200


def test_where_room_is_left_all_rows_are_kept_and_then_further_columns() -> None:
    *_, last = excerpt("Which model is best on Set12?", 2000)
    assert last.startswith("… 92 of 92 rows, ")
    _, header, *_ = excerpt("Which model is best on Set12?", 3000)
    assert header.count(" | ") > 2
    assert "Set12" in header


def test_a_question_that_names_nothing_gets_the_first_rows_whole() -> None:
    _, _, first, *_, last = excerpt("And?", 1500)
    assert first.startswith("model-0 | Set1: 0.01 | Set2: 0.02")
    assert last.endswith("30 of 30 columns shown")


def test_a_value_that_the_question_gives_finds_its_row() -> None:
    assert any("model-44 |" in line for line in excerpt("Which model has 44.17?", 120))


@pytest.mark.parametrize("tokens", [0, -50])
def test_one_row_and_one_column_are_always_there(tokens: int) -> None:
    title, header, row, last = excerpt("What does model-57 reach on Set12?", tokens)
    assert (title, header) == ("Table 7: All scores.", "Columns: Model | Set12")
    assert row == "model-57 | Set12: 57.12"
    assert last == "… 1 of 92 rows, 2 of 30 columns shown"


@given(GRIDS, st.integers(0, 200), st.text("abc ", max_size=12))
def test_any_table_gives_whole_lines_of_it_that_come_back_from_csv(
    rows: Sequence[Sequence[str]], tokens: int, question: str
) -> None:
    made = table(1, 1, "Any.", rows, "1 All")
    content = table_excerpt(made, question, tokens=tokens, count=count_tokens)
    assert content.startswith("\n".join(title_lines(made)))
    parts = {part for line in table_lines(made) for part in line.removeprefix("Columns: ").split(" | ")}
    for line in content.splitlines()[1:-1]:
        assert parts.issuperset(line.removeprefix("Columns: ").split(" | "))
    context = Context(sources=(ContextSource(id=0, content=content, element=made.id, place=place(1, 2.0)),))
    assert parse_context(render_context(context)) == context
