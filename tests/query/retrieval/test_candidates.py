"""What lifts chunks, and what a reranker does to them."""

from dataclasses import replace

import pytest

from paperscope_core.protocols import Corpus
from paperscope_core.types import Candidates, Hit
from query.retrieval.candidates import CandidatePool

PAPER = "aaaa00000001"


def test_where_most_of_what_is_asked_is_stated_is_lifted_most(corpus: Corpus) -> None:
    pool = CandidatePool(corpus, Candidates())
    pool.boost_stated([((f"{PAPER}/passage-4",), 0.2), ((f"{PAPER}/table-2", f"{PAPER}/passage-4"), 0.6)])
    assert pool.nearness(f"{PAPER}/chunk-4") == pool.nearness(f"{PAPER}/chunk-6")
    pool.boost_stated([((f"{PAPER}/table-2",), 0.3), ((f"{PAPER}/passage-4",), 0.1)])
    assert [chunk.elements for chunk in pool.chunks()] == [(f"{PAPER}/table-2",), (f"{PAPER}/passage-4",)]


def test_what_a_reranker_did_not_read_is_dropped_and_its_scale_does_not_matter(corpus: Corpus) -> None:
    hits = tuple(Hit(id=f"{PAPER}/chunk-{number}", score=0.5) for number in (1, 2, 3, 4))
    pool = CandidatePool(corpus, Candidates(by_words=hits))
    pool.rerank({f"{PAPER}/chunk-2": -11.0, f"{PAPER}/chunk-1": -7.5, f"{PAPER}/chunk-3": -8.0})
    assert [chunk.id[-1] for chunk in pool.chunks()] == ["1", "3", "2"]
    assert [pool.nearness(chunk.id) for chunk in pool.chunks()] == [1.0, pytest.approx(3 / 3.5), 0.0]
    pool.rerank({f"{PAPER}/chunk-2": 4.0})
    assert [chunk.id[-1] for chunk in pool.chunks()] == ["2"]
    pool.rerank({})
    assert pool.chunks() == []


def test_one_text_that_answers_outweighs_many_that_touch_on_the_question(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = f"{PAPER}/chunk-1"
    best = corpus.chunks([first])[first]
    chunks = {best.id: best} | {f"b/{number}": replace(best, id=f"b/{number}", paper="b") for number in range(6)}
    monkeypatch.setattr(corpus, "chunks", lambda ids: {key: chunks[key] for key in ids})
    weak = tuple(Hit(id=f"b/{number}", score=0.3) for number in range(6))
    assert CandidatePool(corpus, Candidates(by_words=(Hit(id=best.id, score=0.8), *weak))).papers() == [PAPER]
    assert CandidatePool(corpus, Candidates(by_words=(Hit(id=best.id, score=0.4), *weak))).papers() == ["b"]
