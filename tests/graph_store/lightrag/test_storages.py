"""What LightRAG's storages read from a library, and that they refuse to write."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from graph_store.lightrag.adapter import PieceTokenizer
from graph_store.lightrag.storages import GraphStorage, KVStorage, StatusStorage, VectorStorage
from graph_store.lightrag.vectors import TextVectors
from graph_store.lightrag.view import SEPARATOR, LibraryReader, VectorKind
from paperscope_core.errors import SettingsError, StoreDamagedError, StoreReadOnlyError
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.types import Filters
from tests.graph_store.indexed_papers import DIMENSION, EMBEDDER, PAPER_IDS, add, make_indexed, unit_vector
from tests.graph_store.lightrag.conftest import ONE, TWO, embed

THREE = PAPER_IDS[2]


def kv(reader: LibraryReader, namespace: str) -> KVStorage:
    storage = KVStorage()
    storage.reader, storage.namespace = reader, namespace
    return storage


def vectors(reader: LibraryReader, namespace: VectorKind, *, least: float = -1.0) -> VectorStorage:
    storage = VectorStorage()
    storage.reader, storage.namespace, storage.cosine_better_than_threshold = reader, namespace, least

    async def embedding(texts: list[str], **_options: object) -> Any:
        return embed(texts)

    storage.embedding_func = embedding
    return storage


@pytest.fixture
def graph(reader: LibraryReader) -> GraphStorage:
    storage = GraphStorage()
    storage.reader, storage.global_config = reader, {}
    storage.types = SimpleNamespace(
        KnowledgeGraph=SimpleNamespace, KnowledgeGraphNode=SimpleNamespace, KnowledgeGraphEdge=SimpleNamespace
    )
    return storage


async def test_a_node_is_an_entity_with_its_chunks_and_elements(graph: GraphStorage) -> None:
    node = await graph.get_node("BERT")
    assert node == {
        "entity_id": "BERT",
        "entity_type": "metric",
        "description": "BERT is used",
        "source_id": SEPARATOR.join((f"{ONE}/chunk-1", f"{TWO}/chunk-1")),
        "element_ids": SEPARATOR.join((f"{ONE}/passage-1", f"{TWO}/passage-1")),
        "file_path": SEPARATOR.join((f"{ONE}.pdf", f"{TWO}.pdf")),
    }
    assert await graph.has_node("BERT")
    assert not await graph.has_node("bert")
    assert await graph.get_node("no such") is None


async def test_an_edge_has_no_direction(graph: GraphStorage) -> None:
    edge = await graph.get_edge("F1", "BERT")
    assert edge == await graph.get_edge("BERT", "F1")
    assert edge is not None
    assert (edge["weight"], edge["keywords"], edge["description"]) == (1.0, "compared_with", "BERT against F1")
    assert edge["source_id"] == f"{ONE}/chunk-1"
    assert await graph.has_edge("F1", "BERT")
    assert not await graph.has_edge("F1", "SST-5")
    assert await graph.get_edge("F1", "x") is None


async def test_degrees_and_neighbours(graph: GraphStorage) -> None:
    assert [await graph.node_degree(node) for node in ("BERT", "F1", "Dice loss", "x")] == [2, 2, 1, 0]
    assert await graph.edge_degree("BERT", "F1") == 4
    assert await graph.get_node_edges("BERT") == [("BERT", "F1"), ("BERT", "SST-5")]
    assert await graph.get_node_edges("x") is None


async def test_labels(graph: GraphStorage) -> None:
    assert await graph.get_all_labels() == ["BERT", "Dice loss", "F1", "SST-5", "focal loss"]
    assert await graph.get_popular_labels(3) == ["BERT", "F1", "SST-5"]
    assert await graph.search_labels("LOSS") == ["Dice loss", "focal loss"]
    assert await graph.search_labels("f", 1) == ["F1"]
    assert await graph.search_labels(" ") == []
    assert [node["id"] for node in await graph.get_all_nodes()] == ["BERT", "Dice loss", "F1", "focal loss", "SST-5"]
    assert len(await graph.get_all_edges()) == 4


@pytest.mark.parametrize(
    ("start", "nodes", "cut"),
    [
        (("*", 3, None), ["BERT", "F1", "SST-5", "Dice loss", "focal loss"], False),
        (("*", 3, 2), ["BERT", "F1"], True),
        (("Dice loss", 1, None), ["Dice loss", "F1"], False),
        (("Dice loss", 9, 3), ["Dice loss", "F1", "BERT"], True),
        (("x", 1, None), [], False),
    ],
)
async def test_a_neighbourhood(
    graph: GraphStorage, start: tuple[str, int, int | None], nodes: list[str], cut: bool
) -> None:
    found = await graph.get_knowledge_graph(*start)
    assert [node.id for node in found.nodes] == nodes
    assert found.is_truncated == cut
    assert all({edge.source, edge.target} <= set(nodes) for edge in found.edges)


async def test_what_means_something_in_one_paper_only_is_named_with_it(store: Store, graph: GraphStorage) -> None:
    for paper, long in ((THREE, "large language model"), (PAPER_IDS[3], "low-level mode")):
        add(store, make_indexed(paper, names=(long,), defined=(long,)))
    add(store, make_indexed(TWO, names=("LLM",)))
    assert f"LLM ({TWO})" in await graph.get_all_labels()


async def test_chunks_have_places(reader: LibraryReader) -> None:
    chunks = kv(reader, "text_chunks")
    row = await chunks.get_by_id(f"{ONE}/chunk-2")
    assert row is not None
    assert row["content"] == "We train F1 and report F1 ."
    assert (row["full_doc_id"], row["chunk_order_index"], row["file_path"]) == (ONE, 2, f"{ONE}.pdf")
    assert row["places"] == [{"page": 1, "box": [10.0, 20.0, 30.5, 40.0]}]
    assert row["heading"] == {"level": 1, "heading": "1 One", "parent_headings": []}
    by_element = await chunks.get_by_id(f"{ONE}/passage-2")
    assert by_element is not None
    assert by_element["content"] == row["content"]
    assert await chunks.get_by_ids(["x", f"{ONE}/chunk-2"]) == [None, row]
    assert await chunks.filter_keys({"x", f"{ONE}/chunk-2"}) == {"x"}
    assert not await chunks.is_empty()


async def test_what_documents_contribute(reader: LibraryReader) -> None:
    async def row(namespace: str, key: str) -> Any:
        found = await kv(reader, namespace).get_by_id(key)
        return (
            {name: found[name] for name in found if not name.startswith(("_", "create", "update"))} if found else None
        )

    assert (await row("full_docs", ONE))["content"].startswith("We train BERT")
    assert await row("full_entities", TWO) == {"entity_names": ["BERT", "focal loss", "SST-5"], "count": 3}
    assert await row("full_relations", TWO) == {
        "relation_pairs": [["BERT", "SST-5"], ["SST-5", "focal loss"]],
        "count": 2,
    }
    assert await row("entity_chunks", "F1") == {"chunk_ids": [f"{ONE}/chunk-1"], "count": 1}
    assert await row("relation_chunks", f"BERT{SEPARATOR}F1") == {"chunk_ids": [f"{ONE}/chunk-1"], "count": 1}
    for namespace in ("full_docs", "full_entities", "full_relations", "entity_chunks", "relation_chunks"):
        assert await row(namespace, "x") is None


async def test_papers_with_one_file_name_are_told_apart(store: Store, reader: LibraryReader) -> None:
    add(store, make_indexed(THREE, file=f"{ONE}.pdf"))
    row = await kv(reader, "full_docs").get_by_id(THREE)
    assert row is not None
    assert row["file_path"] == f"{THREE}/{ONE}.pdf"


@pytest.mark.parametrize("namespace", ["chunks", "entities", "relationships"])
async def test_vectors_are_compared_by_cosine(reader: LibraryReader, namespace: VectorKind) -> None:
    storage = vectors(reader, namespace)
    rows = await storage.query("Dice loss", 3)
    cosines = [row["distance"] for row in rows]
    assert cosines == sorted(cosines, reverse=True)  # type: ignore[type-var]
    assert len(rows) == 3
    ids = [str(row["id"]) for row in rows]
    assert [row and row["id"] for row in await storage.get_by_ids([*ids, "x"])] == [*ids, None]
    found = await storage.get_vectors_by_ids([*ids, "x"])
    assert list(found) == ids
    question = embed(["Dice loss"])[0]
    assert cosines == pytest.approx([float(question @ found[key]) for key in ids], abs=1e-6)
    assert await vectors(reader, namespace, least=1.1).query("Dice loss", 3) == []
    assert await storage.query("", 0, unit_vector(1)) == []


async def test_rows_of_vectors_say_what_they_are_of(reader: LibraryReader) -> None:
    entity = (await vectors(reader, "entities").query("", 1, embed(["F1\nF1 is used"])[0]))[0]
    assert (entity["entity_name"], entity["distance"]) == ("F1", pytest.approx(1.0))
    content = "compared_with\tBERT\nF1\nBERT against F1"
    relation = (await vectors(reader, "relationships").query("", 1, embed([content])[0]))[0]
    assert (relation["src_id"], relation["tgt_id"], relation["content"]) == ("BERT", "F1", content)


async def test_vectors_of_another_embedder_are_refused(store: Store) -> None:
    reader = LibraryReader(store, TextVectors(embed, embedder="another", dimension=DIMENSION))
    with pytest.raises(SettingsError, match=f"no paper has vectors of the embedder 'another'.*{EMBEDDER}"):
        await vectors(reader, "chunks").query("x", 1)
    same_name = LibraryReader(store, TextVectors(embed, embedder=EMBEDDER, dimension=DIMENSION))
    with pytest.raises(SettingsError, match=r"\(5,\).*8 numbers"):
        await vectors(same_name, "chunks").query("x", 1, unit_vector(1, dimension=5))


async def test_an_empty_library_has_nothing(store: Store, reader: LibraryReader) -> None:
    store.remove(ONE)
    store.remove(TWO)
    for namespace in ("text_chunks", "full_docs", "full_entities", "full_relations", "entity_chunks"):
        assert await kv(reader, namespace).is_empty()
    assert await vectors(reader, "chunks").query("x", 3) == []
    assert await vectors(reader, "entities").query("x", 3) == []


def test_a_damaged_paper_is_left_out_and_a_library_of_damaged_ones_is_refused(
    store: Store, reader: LibraryReader
) -> None:
    with closing(sqlite3.connect(store.folder / "library.sqlite")) as connection, connection:
        connection.execute("UPDATE vectors SET vector = 'x' WHERE chunk = (SELECT min(chunk) FROM vectors)")
    with reader.held() as view:
        assert list(view.snapshot.papers) == [TWO]
    with closing(sqlite3.connect(store.folder / "library.sqlite")) as connection, connection:
        connection.execute("DELETE FROM vectors")
    with closing(Store.open(store.folder)) as again:
        damaged = LibraryReader(again, reader.texts)
        assert damaged.newest().snapshot.revision == store.revision
        with pytest.raises(StoreDamagedError, match="is damaged; remove the paper"), damaged.held():
            pass


async def test_what_has_a_meaning_in_one_paper_only_is_named_with_it(store: Store, graph: GraphStorage) -> None:
    indexed = make_indexed(ONE, names=("BERT", "Model 1 / Model 2"))
    table = replace(indexed.extraction.entities[0], id=f"{ONE}/table-1", name="Table 1")
    entities = (*indexed.extraction.entities, table)
    add(store, replace(indexed, extraction=replace(indexed.extraction, entities=entities)))
    assert {"Model 1 / Model 2", f"Table 1 ({ONE})"} < set(await graph.get_all_labels())


async def test_what_is_held_stays_while_papers_change(store: Store, reader: LibraryReader) -> None:
    chunks = kv(reader, "text_chunks")
    with reader.held() as view:
        store.remove(ONE)
        assert await chunks.get_by_id(f"{ONE}/chunk-1") is not None
        assert "F1" in view.nodes
    assert await chunks.get_by_id(f"{ONE}/chunk-1") is None
    add(store, make_indexed(ONE))
    assert await chunks.get_by_id(f"{ONE}/chunk-1") is not None


async def test_filters_leave_only_what_their_chunks_state(reader: LibraryReader, graph: GraphStorage) -> None:
    with reader.held(Filters(papers=(TWO,))):
        assert await graph.get_all_labels() == ["BERT", "SST-5", "focal loss"]
        assert await graph.get_node_edges("BERT") == [("BERT", "SST-5")]
        node = await graph.get_node("BERT")
        assert node is not None
        assert node["source_id"] == f"{TWO}/chunk-1"
        rows = await vectors(reader, "chunks").query("x", 9)
    assert {row["full_doc_id"] for row in rows} == {TWO}


def test_documents_have_the_time_when_they_were_added(reader: LibraryReader) -> None:
    status = StatusStorage()
    status.reader = reader
    rows = status._data
    times = [datetime.fromisoformat(str(row["created_at"])) for row in rows.values()]
    assert [time.tzinfo for time in times] == [UTC, UTC]
    assert max(abs(datetime.now(UTC) - time) for time in times) < timedelta(minutes=1)


async def test_the_cache_of_model_calls_stays_empty(reader: LibraryReader) -> None:
    calls = kv(reader, "llm_response_cache")
    await calls.upsert({"mix:query:1": {"return": "an answer"}})
    assert await calls.get_by_id("mix:query:1") is None
    assert await calls.is_empty()


def test_a_text_is_embedded_once_and_forgotten_with_the_library() -> None:
    asked: list[str] = []

    def counting(texts: Sequence[str]) -> NDArray[float32]:
        asked.extend(texts)
        return embed(texts)

    vectors = TextVectors(counting, embedder=EMBEDDER, dimension=DIMENSION)
    for texts, whole in ((["a", "b", "a"], True), (["b", "c"], False), (["c", "a"], True), (["a", "b"], False)):
        np.testing.assert_array_equal(vectors.of("entities", texts, whole=whole), embed(texts))
    assert asked == ["a", "b", "c", "b"]
    assert vectors.of("relationships", []).shape == (0, DIMENSION)


Write = Callable[[LibraryReader, GraphStorage], Awaitable[object]]
WRITES: list[Write] = [
    lambda reader, _: kv(reader, "text_chunks").upsert({"x": {}}),
    lambda reader, _: kv(reader, "full_docs").delete(["x"]),
    lambda reader, _: vectors(reader, "chunks").upsert({"x": {}}),
    lambda reader, _: vectors(reader, "chunks").delete(["x"]),
    lambda reader, _: vectors(reader, "entities").delete_entity("BERT"),
    lambda reader, _: vectors(reader, "relationships").delete_entity_relation("BERT"),
    lambda _, graph: graph.upsert_node("x", node_data={}),
    lambda _, graph: graph.upsert_edge("x", "y", {}),
    lambda _, graph: graph.delete_node("BERT"),
    lambda _, graph: graph.remove_nodes(["BERT"]),
    lambda _, graph: graph.remove_edges([("BERT", "F1")]),
    lambda _reader, _graph: StatusStorage().upsert({"x": {}}),
    lambda _reader, _graph: StatusStorage().delete(["x"]),
    lambda _reader, _graph: StatusStorage().update_doc_status_fields("x"),
]


@pytest.mark.parametrize("write", WRITES)
async def test_writes_are_refused(store: Store, reader: LibraryReader, graph: GraphStorage, write: Write) -> None:
    with pytest.raises(StoreReadOnlyError, match="add or remove papers with Paperscope"):
        await write(reader, graph)
    assert store.revision == 2


async def test_dropping_is_refused_as_lightrag_expects_it(reader: LibraryReader, graph: GraphStorage) -> None:
    for storage in (graph, kv(reader, "text_chunks"), vectors(reader, "chunks")):
        assert (await storage.drop())["status"] == "error"
        await storage.index_done_callback()


@pytest.mark.parametrize("text", ["", "F1 of 89.43 %", "naïve β-VAE 模型\n\x00", "word " * 300])
def test_a_text_is_restored_from_its_tokens(text: str) -> None:
    tokens = PieceTokenizer().encode(text)
    assert PieceTokenizer().decode(tokens) == text
    assert len(tokens) >= 0.9 * count_tokens(text)
