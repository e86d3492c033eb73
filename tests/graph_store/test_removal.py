"""A paper that is removed leaves the library as if it had never been there."""

import dataclasses
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_store import NativeGraphIndex, Store
from paperscope_core.types import Candidates, RetrievalRequest
from tests.graph_store.indexed_papers import METHODS, PAPER_IDS, add, indexed_papers, unit_vector, view

ONE, TWO, *_ = PAPER_IDS
WORDS = st.text() | st.sampled_from(METHODS)


def ask(text: str) -> RetrievalRequest:
    return RetrievalRequest(text=text, vector=unit_vector(1), limit=100)


def rounded(candidates: Candidates) -> dict[str, list[tuple[float, str]]]:
    lists = {field.name: getattr(candidates, field.name) for field in dataclasses.fields(candidates)}
    return {name: sorted((round(hit.score, 5), hit.id) for hit in hits) for name, hits in lists.items()}


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.data(), st.lists(WORDS, min_size=1, max_size=3))
def test_removing_a_paper_removes_exactly_what_it_added(data: st.DataObject, texts: list[str]) -> None:
    one, other = (data.draw(indexed_papers(ids=st.just(paper))) for paper in (ONE, TWO))
    with tempfile.TemporaryDirectory() as left, tempfile.TemporaryDirectory() as right:
        used, alone = Store.open(Path(left)), Store.open(Path(right))
        indexes = [NativeGraphIndex.open(used), NativeGraphIndex.open(alone)]
        for indexed in (one, other):
            add(used, indexed)
            indexes[0].catch_up()
        used.remove(ONE)
        indexes[0].catch_up()
        used.sweep()
        add(alone, other)
        indexes[1].catch_up()
        assert view(used) == view(alone)
        for text in (" ".join(METHODS), *texts):
            assert rounded(indexes[0].retrieve(ask(text))) == rounded(indexes[1].retrieve(ask(text)))
        crops = [{file.name for file in Path(folder, "crops").rglob("*.png")} for folder in (left, right)]
        assert crops[0] == crops[1] != set()
        for store, index in zip((used, alone), indexes, strict=True):
            index.close()
            store.close()
