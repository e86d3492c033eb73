"""The index in PostgreSQL: as the native one ranks, and when something stands in its way."""

import dataclasses
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from graph_store import NativeGraphIndex, Store
from graph_store.index import PostgresGraphIndex, bm25, index_damage, postgresql_search
from graph_store.index import postgresql_index as postgresql
from graph_store.postgresql import take_lock
from paperscope_core.errors import InputError, StoreError, StoreVersionError
from paperscope_core.locations import PostgresAddress
from paperscope_core.types import Candidates, Filters, RetrievalRequest
from tests.graph_store.indexed_papers import (
    EMBEDDER,
    METHODS,
    PAPER_IDS,
    Step,
    add,
    histories,
    make_indexed,
    play,
    unit_vector,
)
from tests.postgresql_server import PostgresServer

ONE, TWO, THREE, _ = PAPER_IDS

pytestmark = pytest.mark.slow


def ask(question: str = "BERT", filters: Filters = Filters(), *, limit: int = 100) -> RetrievalRequest:
    return RetrievalRequest(text=question, vector=unit_vector(1), filters=filters, limit=limit)


def assert_same(found: Candidates, expected: Candidates) -> None:
    """The same lists in order; vectors of 16-bit numbers are nearly as far."""
    for field in dataclasses.fields(found):
        one, other = ({hit.id: hit.score for hit in getattr(hits, field.name)} for hits in (found, expected))
        if field.name != "by_vectors":
            assert list(one) == list(other)
        assert one == pytest.approx(other, rel=1e-9, abs=2e-3 if field.name == "by_vectors" else 0)


def papers_of(candidates: Candidates) -> set[str]:
    return {hit.id.partition("/")[0] for hit in candidates.by_words}


@pytest.fixture
def address(postgresql: PostgresServer, tmp_path: Path) -> PostgresAddress:
    return postgresql.address(tmp_path)


@pytest.fixture
def store(address: PostgresAddress) -> Iterator[Store]:
    with closing(Store.open(address)) as opened:
        yield opened


def run(store: Store, statement: str) -> None:
    with store.database.write() as connection:
        connection.execute(text(statement))


@settings(max_examples=3, deadline=None)
@given(histories(), st.lists(st.text() | st.sampled_from(METHODS), min_size=1, max_size=2))
def test_it_ranks_as_the_native_index_after_any_changes(
    postgresql: PostgresServer, history: list[Step], questions: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(Store.open(postgresql.address(Path(folder)))) as store:
        with closing(PostgresGraphIndex.open(store, embedder=EMBEDDER)) as index:
            for step in history:
                play(store, [step])
                index.catch_up()
            with closing(NativeGraphIndex.open(store, embedder=EMBEDDER)) as native:
                assert index.revision == native.revision
                for question in (" ".join(METHODS), "state-of-the-art", *questions):
                    for filters in (Filters(), Filters(papers=(TWO, THREE)), Filters(kinds=("text",))):
                        request = ask(question, filters)
                        assert_same(index.retrieve(request), native.retrieve(request))
                    assert [hit.id for hit in index.named(question)] == [hit.id for hit in native.named(question)]
        assert index_damage(store, "postgresql") == []


def test_over_all_of_a_large_library_the_rarer_words_count(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, make_indexed(ONE, texts=["score", "score score", "score owl", "owl score", "owl-fox score", "plain"]))
    with closing(PostgresGraphIndex.open(store)) as index, closing(NativeGraphIndex.open(store)) as native:
        for most in (9, 4, 2):
            monkeypatch.setitem(bm25.RANKED, "chunk_words", most)
            for question in ("score of owl and fox", "owl-fox", "score", "wolf"):
                for filters in (Filters(), Filters(papers=(ONE,))):
                    request = ask(question, filters)
                    assert_same(index.retrieve(request), native.retrieve(request))


def test_a_graph_of_vectors_leaves_nothing_out_that_the_filters_allow(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "COMPARED", 3)
    for paper in (ONE, TWO):
        add(store, make_indexed(paper, texts=[f"text {number}" for number in range(40)]))
    every = {filters: ask("text", filters) for filters in (Filters(), Filters(papers=(TWO,)), Filters(kinds=("text",)))}
    with closing(PostgresGraphIndex.open(store, embedder=EMBEDDER)) as index:
        exact = [index.retrieve(request) for request in every.values()]
        monkeypatch.setattr(postgresql_search, "COMPARED", 3)
        by_graph = [index.retrieve(request) for request in every.values()]
        assert [len(found.by_vectors) for found in by_graph] == [80, 40, 80]
        for found, expected in zip(by_graph, exact, strict=True):
            assert_same(found, expected)
        one_neighbour = "SELECT set_config('hnsw.ef_search', '1', true), set_config('enable_sort', 'off', true)"
        with monkeypatch.context() as patch:
            patch.setattr(postgresql_search, "_GRAPH_SETTINGS", one_neighbour)
            assert_same(index.retrieve(ask("text")), exact[0])
        # Later vectors are added to the graph; without papers, another dimension is another graph.
        add(store, make_indexed(THREE))
        assert len(index.retrieve(ask("text")).by_vectors) > 80
        for paper in (ONE, TWO, THREE):
            store.remove(paper)
        index.catch_up()
        add(store, make_indexed(ONE, dimension=5))
        assert index.retrieve(dataclasses.replace(ask(), vector=unit_vector(1, dimension=5))).by_vectors


def test_a_graph_that_can_not_be_built_is_done_without(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    built = []

    def fail(*_: object, parallel: bool, **__: object) -> None:
        built.append(parallel)
        raise StoreError("no shared memory")

    monkeypatch.setattr(postgresql, "COMPARED", 3)
    monkeypatch.setattr(postgresql, "build_graph", fail)
    add(store, make_indexed(ONE))
    with closing(PostgresGraphIndex.open(store, embedder=EMBEDDER)) as index:
        assert index.retrieve(ask()).by_vectors
    assert built == [True, False]
    assert "can't be built: " in caplog.text


def test_tables_that_are_lost_or_of_another_history_are_built_again(store: Store) -> None:
    add(store, make_indexed(ONE))
    with closing(PostgresGraphIndex.open(store)) as index:
        before = index.retrieve(ask())
        run(store, "DROP TABLE search_state, search_chunks")
        assert index.retrieve(ask()) == before
        run(store, "UPDATE changes SET token = 'another'")
        assert index.retrieve(ask()) == before
        run(store, "UPDATE search_state SET format = 0")
        assert index.retrieve(ask()) == before
        run(store, "UPDATE search_state SET format = 99")
        with pytest.raises(StoreVersionError, match=r"newer Paperscope.*set retrieval\.index to native"):
            index.retrieve(ask())


def test_several_at_once_apply_each_change_once(store: Store) -> None:
    def catch_up(_: int) -> int:
        with closing(PostgresGraphIndex.open(store)) as index:
            return index.revision

    for paper in PAPER_IDS:
        add(store, make_indexed(paper))
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(catch_up, range(4))) == {4}
    assert index_damage(store, "postgresql") == []


def test_while_another_process_updates_it_the_older_state_is_searched(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "_MOST_WAIT", 0.1)
    add(store, make_indexed(ONE))
    with closing(PostgresGraphIndex.open(store)) as index:
        with store.database.write(lock=None) as connection:
            take_lock(connection, "index")
            add(store, make_indexed(TWO))
            assert papers_of(index.retrieve(ask())) == {ONE}
            # The graph is left to the other process.
            monkeypatch.setattr(postgresql, "COMPARED", 3)
            PostgresGraphIndex.open(store).close()
        assert papers_of(index.retrieve(ask())) == {ONE, TWO}


def test_a_heading_longer_than_a_row_of_an_index(store: Store) -> None:
    heading = "1 Results " + "".join(map(chr, range(0x4E00, 0x4E00 + 3000)))
    indexed = make_indexed(ONE)
    chunks = tuple(dataclasses.replace(chunk, section=heading) for chunk in indexed.chunks)
    add(store, dataclasses.replace(indexed, chunks=chunks))
    with closing(PostgresGraphIndex.open(store, embedder=EMBEDDER)) as index:
        assert papers_of(index.retrieve(ask(filters=Filters(sections=("Results",))))) == {ONE}


def test_another_library_on_the_path_is_apart(postgresql: PostgresServer, tmp_path: Path) -> None:
    one, other = postgresql.new_schema(), postgresql.new_schema()
    with closing(Store.open(postgresql.address(tmp_path / "one", schema=one))) as store:
        add(store, make_indexed(ONE))
        PostgresGraphIndex.open(store, embedder=EMBEDDER).close()
        with closing(Store.open(postgresql.address(tmp_path / "other", schema=f"{other},{one}"))) as beside:
            assert not beside.entries()
            for build in (PostgresGraphIndex.open, PostgresGraphIndex.rebuild):
                with closing(build(beside, embedder=EMBEDDER)) as index:
                    assert not index.retrieve(ask()).by_words
        with store.database.read() as connection:
            assert connection.execute(text("SELECT chunks FROM search_state")).scalar_one() > 0


def test_who_may_only_read_searches_what_is_there(address: PostgresAddress, store: Store) -> None:
    with closing(Store.open(address, read_only=True)) as reader:
        with closing(PostgresGraphIndex.open(reader)) as index, pytest.raises(StoreError, match="not built yet"):
            index.retrieve(ask())
        add(store, make_indexed(ONE))
        PostgresGraphIndex.open(store).close()
        add(store, make_indexed(TWO))
        with closing(PostgresGraphIndex.open(reader)) as index:
            assert papers_of(index.retrieve(ask())) == {ONE}


def test_without_pgvector_the_remedy_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    PostgresGraphIndex.open(store).close()
    monkeypatch.setattr(postgresql, "_LEAST_VERSION", (99, 0))
    with pytest.raises(StoreError, match=r"the server has pgvector 0\.\d+.*needs .*ALTER EXTENSION vector UPDATE"):
        PostgresGraphIndex.open(store)
    monkeypatch.setattr(postgresql, "_EXTENSION", "no_such_extension")
    with pytest.raises(StoreError, match=r"CREATE EXTENSION vector.*set retrieval\.index to native"):
        PostgresGraphIndex.open(store)
    with pytest.raises(StoreError, match="CREATE EXTENSION vector"):
        index_damage(store, "postgresql")
    NativeGraphIndex.open(store).close()


def test_a_library_in_a_folder_has_none(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path)) as embedded, pytest.raises(InputError, match="needs a library in PostgreSQL"):
        PostgresGraphIndex.open(embedded)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM search_chunks", "a wrong number of chunks"),
        ("DELETE FROM search_chunk_words WHERE term = 'bert'", "a wrong number of postings of words"),
        ("UPDATE search_chunks SET vector = NULL", "a wrong number of vectors"),
    ],
)
def test_damage_is_found_and_repaired(store: Store, statement: str, message: str) -> None:
    add(store, make_indexed(ONE))
    with closing(PostgresGraphIndex.open(store)) as index:
        before = index.retrieve(ask())
    assert index_damage(store, "postgresql") == []
    run(store, statement)
    assert any(message in one for one in index_damage(store, "postgresql"))
    with closing(PostgresGraphIndex.rebuild(store)) as index:
        assert index.retrieve(ask()) == before
    assert index_damage(store, "postgresql") == []
