"""Words of a question: what is searched for, and how names are recognised."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_store.index.query_terms import longest_first, match_terms, name_key, windows
from tests.graph_store.indexed_papers import METHODS

HOSTILE = (
    '"',
    "NEAR(a b)",
    "a AND",
    "text:",
    "*",
    "^a",
    "a OR (",
    "'; DROP TABLE names; --",
    "{a b} : c",
    "\0a",
    "-a",
    "\ud800",
)


@pytest.fixture(scope="module")
def table() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    connection.execute("INSERT INTO words VALUES ('harmless')")
    yield connection
    connection.close()


@given(st.text() | st.lists(st.sampled_from(HOSTILE)).map(" ".join))
def test_no_text_breaks_the_search(table: sqlite3.Connection, text: str) -> None:
    expression = " OR ".join(match_terms(text))
    if expression:
        table.execute("SELECT * FROM words WHERE words MATCH ?", (expression,)).fetchall()


@pytest.mark.parametrize("text", [*HOSTILE, "word " * 5000, "a+" * 5000])
def test_hostile_and_long_texts(table: sqlite3.Connection, text: str) -> None:
    expression = " OR ".join(match_terms(text)) or '""'
    assert table.execute("SELECT * FROM words WHERE words MATCH ?", (expression,)).fetchall() == []
    assert len(windows(text)) <= 2000


def test_function_words_count_only_where_there_is_nothing_else() -> None:
    assert match_terms("What is the F1 of BERT+DSC?") == ['"bert dsc"', '"f1"', '"bert"', '"dsc"']
    assert match_terms("What is it?") == ['"what"', '"is"', '"it"']
    assert match_terms("?!") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("F1-score", "F1 SCORE"), ("OntoNotes4.0", "OntoNotes 4.0"), ("SST-5", "sst5"), ("F₁", "F_1"), ("naïve", "naive")],
)
def test_spellings_that_meet(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


def test_names_that_do_not_meet() -> None:
    assert len({name_key(name) for name in METHODS}) == len(METHODS)


@given(st.sampled_from(METHODS), st.text(max_size=10), st.text(max_size=10))
def test_a_name_is_found_anywhere_in_a_text(name: str, before: str, after: str) -> None:
    found = windows(f"{before} {name} {after}")
    assert name_key(name) in {window.key for window in found}


def test_the_longest_name_wins() -> None:
    entities = {name_key(name): [name] for name in METHODS}
    found = longest_first(windows("Does BERT+DSC beat plain BERT, or focal losses, on F1?"), entities)
    assert found == {"BERT+DSC": 8, "BERT": 4, "F1": 2}
    assert list(found) == ["BERT+DSC", "BERT", "F1"]
    assert list(longest_first(windows("Is BERT+ better?"), entities)) == ["BERT+"]
