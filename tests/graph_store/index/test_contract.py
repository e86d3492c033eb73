"""What every `GraphIndex` does, whatever it retrieves with."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pytest

from graph_store import NativeGraphIndex, Store
from graph_store.index import PostgresGraphIndex
from graph_store.lightrag.index import LightRAGGraphIndex
from graph_store.lightrag.vectors import TextVectors
from paperscope_core.errors import SettingsError
from paperscope_core.locations import Location
from paperscope_core.protocols import GraphIndex
from paperscope_core.types import Candidates, Filters, RetrievalRequest
from tests.graph_store.indexed_papers import DIMENSION, EMBEDDER, METHODS, PAPER_IDS, add, make_indexed, unit_vector

ONE, TWO, *_ = PAPER_IDS

OpenIndex = Callable[[Store], GraphIndex]


def native(store: Store) -> GraphIndex:
    return NativeGraphIndex.open(store, embedder=EMBEDDER)


def postgresql(store: Store) -> GraphIndex:
    return PostgresGraphIndex.open(store, embedder=EMBEDDER)


def lightrag(store: Store) -> GraphIndex:
    def embed(texts: object) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        assert isinstance(texts, list)
        return np.stack([unit_vector(len(text)) for text in texts])

    return LightRAGGraphIndex.open(store, TextVectors(embed, embedder=EMBEDDER, dimension=DIMENSION))


@pytest.fixture(params=[native, *(pytest.param(one, marks=pytest.mark.slow) for one in (postgresql, lightrag))])
def open_index(request: pytest.FixtureRequest) -> Iterator[OpenIndex]:
    with ExitStack() as stack:
        yield lambda store: stack.enter_context(closing(request.param(store)))


@pytest.fixture
def store(request: pytest.FixtureRequest, open_index: OpenIndex, tmp_path: Path) -> Iterator[Store]:
    """A library on the engine of the index."""
    place: Location = tmp_path / "library"
    if request.node.callspec.params["open_index"] is postgresql:
        place = request.getfixturevalue("postgresql").address(tmp_path)
    with closing(Store.open(place)) as opened:
        yield opened


def ask(text: str = "BERT", *, filters: Filters = Filters(), limit: int = 100) -> RetrievalRequest:
    return RetrievalRequest(text=text, vector=unit_vector(1), filters=filters, limit=limit)


def lists(found: Candidates) -> dict[str, list[str]]:
    return {field.name: [hit.id for hit in getattr(found, field.name)] for field in dataclasses.fields(found)}


def papers(found: Candidates) -> set[str]:
    return {hit.id.partition("/")[0] for hit in (*found.by_words, *found.by_vectors)}


def test_it_follows_the_store(store: Store, open_index: OpenIndex) -> None:
    index = open_index(store)
    assert isinstance(index, GraphIndex)
    assert index.retrieve(ask()) == Candidates()
    add(store, make_indexed(ONE))
    index.catch_up()
    assert papers(index.retrieve(ask())) == {ONE}
    store.remove(ONE)
    index.catch_up()
    assert index.retrieve(ask()) == Candidates()
    assert index.revision == 2


def test_a_question_sees_the_newest_papers(store: Store, open_index: OpenIndex) -> None:
    one, other = open_index(store), open_index(store)
    add(store, make_indexed(ONE))
    assert papers(one.retrieve(ask())) == papers(other.retrieve(ask())) == {ONE}
    store.remove(ONE)
    assert one.retrieve(ask()) == other.retrieve(ask()) == Candidates()


def test_every_list_stays_within_the_papers_asked_for(store: Store, open_index: OpenIndex) -> None:
    add(store, make_indexed(ONE, names=("BERT", "F1", "Dice loss")))
    add(store, make_indexed(TWO, names=("BERT", "SST-5", "focal loss")))
    index = open_index(store)
    found = index.retrieve(ask("BERT loss", filters=Filters(papers=(TWO,))))
    assert papers(found) == {TWO}
    assert found.named
    assert {hit.id for hit in (*found.named, *found.reached)} <= {"bert", "sst 5", "focal loss"}
    assert papers(index.retrieve(ask("BERT loss"))) == {ONE, TWO}
    assert index.retrieve(ask("BERT", filters=Filters(papers=("no such",)))) == Candidates()


@pytest.mark.parametrize(
    ("filters", "allowed"),
    [
        (Filters(sections=("2",)), {f"{paper}/chunk-{n}" for paper in (ONE, TWO) for n in (3, 4)}),
        (Filters(sections=("loss",), papers=(TWO,)), {f"{TWO}/chunk-3", f"{TWO}/chunk-4"}),
        (Filters(kinds=("table",)), {f"{ONE}/chunk-2", f"{TWO}/chunk-2"}),
        (Filters(kinds=("table", "text"), sections=("1",), papers=(ONE,)), {f"{ONE}/chunk-1", f"{ONE}/chunk-2"}),
        (Filters(sections=("9",)), set()),
    ],
)
def test_sections_and_kinds_are_applied_before_the_limit(
    store: Store, open_index: OpenIndex, filters: Filters, allowed: set[str]
) -> None:
    places = (("1 One", "passage-1"), ("1 One > 1.1 More", "table-1"), ("2 Loss", "passage-2"), ("2 Loss", "passage-3"))
    for paper in (ONE, TWO):
        indexed = make_indexed(paper)
        chunks = [
            dataclasses.replace(chunk, section=section, elements=(f"{paper}/{element}",))
            for chunk, (section, element) in zip(indexed.chunks, places, strict=True)
        ]
        add(store, dataclasses.replace(indexed, chunks=tuple(chunks)))
    index = open_index(store)
    request = ask("We train and report", filters=filters)
    everything = index.retrieve(request)
    assert {hit.id for hit in everything.by_words} == {hit.id for hit in everything.by_vectors} == allowed
    few = lists(index.retrieve(dataclasses.replace(request, limit=1)))
    assert len(few["by_words"]) == len(few["by_vectors"]) == min(len(allowed), 1)
    assert {*few["by_words"], *few["by_vectors"]} <= allowed


def test_lists_are_ranked_and_within_the_limit(store: Store, open_index: OpenIndex) -> None:
    add(store, make_indexed(ONE, names=METHODS))
    index = open_index(store)
    for limit in (0, 1, 3, 100):
        found = index.retrieve(ask(limit=limit))
        known = lists(found)
        assert store.chunks([*known["by_words"], *known["by_vectors"]]) is not None
        entities = [*known["named"], *known["reached"]]
        assert list(store.entities(entities)) == list(dict.fromkeys(entities))
        for field in dataclasses.fields(found):
            hits = getattr(found, field.name)
            assert len(hits) == len({hit.id for hit in hits}) <= limit
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_vectors_of_different_embedders_are_never_compared(store: Store, open_index: OpenIndex) -> None:
    add(store, make_indexed(ONE))
    add(store, make_indexed(TWO, dimension=5), embedder="second")
    index = open_index(store)
    assert {hit.id.partition("/")[0] for hit in index.retrieve(ask()).by_vectors} == {ONE}
    with pytest.raises(SettingsError, match=rf"\(5,\).*{DIMENSION} numbers.*'{EMBEDDER}'"):
        index.retrieve(dataclasses.replace(ask(), vector=unit_vector(1, dimension=5)))


def test_no_text_breaks_it(store: Store, open_index: OpenIndex) -> None:
    add(store, make_indexed(ONE, names=METHODS))
    index = open_index(store)
    for text in ("", " ", "\0", '"', "NEAR(", "a OR (", "*", "text:", "'; DROP", "F", "F1, BERT", "β" * 5000):
        assert all(len(hits) <= 3 for hits in lists(index.retrieve(ask(text, limit=3))).values())
