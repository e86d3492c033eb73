"""Terms, postings and BM25 computed from them, beside SQLite's full-text search, which the native index uses."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_store.index.bm25 import POSTING as POSTING_TYPE
from graph_store.index.bm25 import TOKENIZE, count_texts, phrase_postings, scored
from graph_store.index.text_terms import Tokenizer, bounded

WORDS = ("tree", "trees", "naïve", "of", "F1", "score", "β", "x" * 300)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=30)


@given(st.lists(TEXTS, min_size=1, max_size=8), st.lists(st.sampled_from(WORDS[:-1]), min_size=1, max_size=3))
def test_scores_are_those_of_full_text_search(texts: list[str], phrase: list[str]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection, closing(Tokenizer()) as tokenizer:
        connection.execute(f"CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = '{TOKENIZE}')")
        connection.executemany("INSERT INTO texts VALUES (?)", [(text,) for text in texts])
        query = "SELECT rowid, -bm25(texts) FROM texts WHERE texts MATCH ?"
        known = dict(connection.execute(query, (f'"{" ".join(phrase)}" OR tree',)).fetchall())

        rows = tokenizer.postings(texts, numbers=range(1, len(texts) + 1), owners=[0] * len(texts))
        found = {
            term: np.frombuffer(data, dtype=POSTING_TYPE) for term, data in zip(rows.terms, rows.postings, strict=True)
        }
        none = np.empty(0, dtype=POSTING_TYPE)
        (words,) = tokenizer.terms([" ".join(phrase)])
        terms = [phrase_postings([found.get(word, none) for word in words]), found.get("tree", none)]
        length = sum(rows.lengths) / len(texts)
        numbers, scores = scored([(one, count_texts(one)) for one in terms], size=len(texts), mean_length=length)
        assert dict(zip(numbers.tolist(), scores.tolist(), strict=True)) == pytest.approx(known, rel=1e-12)


def test_an_owner_has_a_row_for_each_of_its_terms() -> None:
    with closing(Tokenizer()) as tokenizer:
        rows = tokenizer.postings(["a tree", "trees", "tree", ""], numbers=[7, 8, 9, 10], owners=[0, 0, 1, 1])
        columns = zip(rows.terms, rows.owners, rows.texts, strict=True)
        assert list(columns) == [("a", 0, 1), ("tree", 0, 2), ("tree", 1, 1)]
        assert np.frombuffer(rows.postings[1], dtype=POSTING_TYPE).tolist() == [(7, 2, 1), (8, 1, 0)]
        assert rows.lengths == [2, 1, 1, 0]
        assert tokenizer.postings([], numbers=[], owners=[]).postings == []
        # A key of a database is limited.
        assert tokenizer.terms(["x" * 300]) == [(bounded("x" * 300),)]
        assert len(bounded("β" * 5000)) < 256


def test_a_text_that_has_no_terms_leaves_nothing_behind() -> None:
    tokenizer = Tokenizer()
    with pytest.raises(UnicodeEncodeError):
        tokenizer.terms(["before", "half of a sign: \ud800"])
    assert tokenizer.terms(["after"]) == [("after",)]
    tokenizer.close()
