"""A library as a working directory that LightRAG opens by itself, and back."""

from pathlib import Path
from typing import Any

import pytest

from graph_store import Store
from graph_store.lightrag.adapter import import_lightrag, query_param
from graph_store.lightrag.export import Storages, export_library
from graph_store.lightrag.importing import plan_import
from graph_store.lightrag.reader import LibraryReader
from graph_store.lightrag.tokens import PieceTokenizer
from graph_store.lightrag.vectors import TextVectors
from graph_store.lightrag.view import View
from graph_store.lightrag.working_dir import read_working_dir
from paperscope_core.errors import InputError, OutputError
from paperscope_core.types import IndexedPaper
from tests.graph_store.indexed_papers import DIMENSION, EMBEDDER
from tests.graph_store.lightrag.conftest import embed

pytestmark = pytest.mark.slow
pytest.importorskip("lightrag")


def texts_of(view: View, element_ids: Any) -> list[str]:
    """The texts of chunks, by which sources are compared."""
    return [view.snapshot.chunks[chunk].text for chunk in str(element_ids).split("<SEP>")]


def graph_of(view: View) -> list[dict[Any, list[object]]]:
    """Nodes and edges by name: their properties, and the texts of their sources."""
    nodes = {name: view.node(name) for name in view.nodes}
    edges = {edge: view.edge(edge) for edge in view.edges}
    return [
        {key: [row["description"], row.get("weight"), texts_of(view, row["source_id"])] for key, row in rows.items()}
        for rows in (nodes, edges)
    ]


def test_an_empty_library_is_not_exported(tmp_path: Path, store: Store, reader: LibraryReader) -> None:
    for paper in store.snapshot().papers:
        store.remove(paper)
    with pytest.raises(InputError, match="has no papers; add one first"):
        export_library(reader, tmp_path / "rag")
    assert not (tmp_path / "rag").exists()


def test_a_round_trip_keeps_entities_relations_and_sources(tmp_path: Path, reader: LibraryReader) -> None:
    report = export_library(reader, tmp_path / "rag")
    assert (report.papers, report.chunks, report.entities, report.relations) == (2, 6, 5, 4)
    assert report.losses["tables, of which only the text is kept"] == 2
    plan = plan_import(read_working_dir(tmp_path / "rag"))
    assert not plan.left_out
    back = Store.open(tmp_path / "back")
    for one in plan.papers:
        vectors = embed([chunk.text for chunk in one.chunks])
        back.add(
            IndexedPaper(paper=one.paper, chunks=one.chunks, extraction=one.extraction, vectors=vectors),
            crops={},
            source=one.source,
            embedder=EMBEDDER,
        )
    again = LibraryReader(back, TextVectors(embed, embedder=EMBEDDER, dimension=DIMENSION))
    assert graph_of(again.newest()) == graph_of(reader.newest())
    back.close()


async def test_lightrag_opens_an_export_by_itself(tmp_path: Path, reader: LibraryReader) -> None:
    export_library(reader, tmp_path / "rag")
    utils = import_lightrag("lightrag.utils")

    async def embedding(texts: list[str], **_options: object) -> Any:
        return embed(texts)

    async def no_model(*_arguments: object, **_options: object) -> str:
        raise AssertionError

    rag = import_lightrag().LightRAG(
        working_dir=str(tmp_path / "rag"),
        embedding_func=utils.EmbeddingFunc(embedding_dim=DIMENSION, func=embedding),
        llm_model_func=no_model,
        tokenizer=utils.Tokenizer("pieces", PieceTokenizer()),
        cosine_better_than_threshold=-1.0,
    )
    await rag.initialize_storages()
    assert await rag.get_graph_labels() == ["BERT", "Dice loss", "F1", "SST-5", "focal loss"]
    param = query_param(mode="mix", hl_keywords=["BERT"], ll_keywords=["BERT"], enable_rerank=False)
    data = (await rag.aquery_data("How large is BERT?", param))["data"]
    assert {len(data["entities"]), len(data["relationships"]), len(data["chunks"])} == {5, 4, 6}
    one = next(iter(reader.newest().snapshot.papers))
    await rag.adelete_by_doc_id(one)
    assert await rag.get_graph_labels() == ["BERT", "SST-5", "focal loss"], "a document can be deleted"
    await rag.finalize_storages()


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path, reader: LibraryReader) -> None:
    (tmp_path / "rag").mkdir()
    (tmp_path / "rag" / "mine").write_text("x")
    with pytest.raises(OutputError, match="is not empty"):
        export_library(reader, tmp_path / "rag")
    assert [one.name for one in (tmp_path / "rag").iterdir()] == ["mine"]


def test_the_rows_of_chunks_have_what_postgresql_stores_with_their_vectors(reader: LibraryReader) -> None:
    from graph_store.lightrag.export import _vector_rows

    row = next(iter(_vector_rows(reader.newest(), "chunks").values()))
    assert {"content", "tokens", "chunk_order_index", "full_doc_id", "file_path"} <= set(row)


@pytest.mark.parametrize(
    ("storages", "message"),
    [
        (Storages(graph="NoSuchStorage"), "'NoSuchStorage' is not compatible"),
        (Storages(graph="Neo4JStorage"), "environment variables: NEO4J_URI"),
    ],
)
def test_a_storage_that_can_not_be_used_is_named_and_nothing_is_written(
    tmp_path: Path, reader: LibraryReader, monkeypatch: pytest.MonkeyPatch, storages: Storages, message: str
) -> None:
    monkeypatch.delenv("NEO4J_URI", raising=False)
    with pytest.raises(InputError, match=message):
        export_library(reader, tmp_path / "rag", storages)
    assert list(tmp_path.glob("*rag*")) == []
