"""Working directories of LightRAG that are read: whole, odd and broken ones."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from graph_store.lightrag import importing
from graph_store.lightrag.importing import plan_import, read_working_dir
from graph_store.lightrag.view import SEPARATOR
from graph_store.writing import validate
from paperscope_core.errors import InputError
from paperscope_core.types import IndexedPaper
from tests.graph_store.indexed_papers import unit_vector

CHUNKS = {
    "chunk-a1": {"full_doc_id": "doc-a", "chunk_order_index": 0, "content": "BERT reads.\nIt is large.", "tokens": 5},
    "chunk-a2": {"full_doc_id": "doc-a", "chunk_order_index": 1, "content": "F1 is a metric.", "tokens": 5},
    "chunk-b1": {"full_doc_id": "doc-b", "chunk_order_index": 0, "content": "BERT again.", "tokens": 3},
    "chunk-c1": {"full_doc_id": "doc-c", "chunk_order_index": 0, "content": "Not finished.", "tokens": 3},
}
DOCUMENTS = {f"doc-{one}": {"content": "", "file_path": f"in/{one}.txt"} for one in "ab"}
STATUS = {"doc-a": {"status": "processed"}, "doc-b": {"status": "processed"}, "doc-c": {"status": "failed"}}


def write(folder: Path, *, chunks: Any = CHUNKS, graph: bool = True) -> Path:
    import networkx as nx

    folder.mkdir(parents=True)
    rows = {"text_chunks": chunks, "full_docs": DOCUMENTS, "doc_status": STATUS}
    for name, content in rows.items():
        (folder / f"kv_store_{name}.json").write_text(json.dumps(content))
    if graph:
        made = nx.Graph()

        def node(name: str, *sources: str) -> None:
            made.add_node(name, entity_type="Method", description=f"{name}.", source_id=SEPARATOR.join(sources))

        node("BERT", "chunk-a1", "chunk-b1")
        node("Berts", "chunk-a2")
        node("F1", "chunk-a2")
        node("Nowhere", "manual_creation")
        made.add_edge("BERT", "F1", keywords="scores,by", description="BERT by F1", weight=3.0, source_id="chunk-a2")
        made.add_edge("BERT", "Nowhere", keywords="x", description="", weight=1.0, source_id="chunk-a1")
        nx.write_graphml(made, folder / "graph_chunk_entity_relation.graphml")
    return folder


def test_documents_become_papers_without_pages(tmp_path: Path) -> None:
    plan = plan_import(read_working_dir(write(tmp_path / "rag")))
    one, other = plan.papers
    assert [paper.paper.file for paper in plan.papers] == ["a.txt", "b.txt"]
    assert not one.paper.paged
    assert [chunk.text for chunk in one.chunks] == ["BERT reads.\nIt is large.", "F1 is a metric."]
    assert [chunk.place.where for chunk in one.chunks] == ["lines 1-2", "line 3"]
    bert, f1 = one.extraction.entities
    first, second = (element.id for element in one.paper.elements)
    assert (bert.name, bert.type, bert.sources, bert.aliases) == ("BERT", "method", (first, second), ("Berts",))
    assert f1.sources == (second,)
    (relation,) = one.extraction.relations
    assert (relation.source, relation.target, relation.kind) == ("bert", "f1", "scores,by")
    assert (relation.weight, relation.sources) == (3.0, (second,))
    assert [entity.name for entity in other.extraction.entities] == ["BERT"]
    assert plan.left_out == {
        "documents that LightRAG has not finished": 1,
        "entities whose chunks are missing": 1,
        "names that mean an entity already named": 1,
        "relations whose chunks or entities are missing": 1,
    }
    for paper in plan.papers:
        vectors = unit_vector(1)[None, :].repeat(len(paper.chunks), axis=0)
        validate(IndexedPaper(paper=paper.paper, chunks=paper.chunks, extraction=paper.extraction, vectors=vectors))


def test_the_only_workspace_of_a_folder_is_read(tmp_path: Path) -> None:
    write(tmp_path / "rag" / "mine")
    assert len(read_working_dir(tmp_path / "rag").documents) == 2
    write(tmp_path / "rag" / "other")
    with pytest.raises(InputError, match=r"has several workspaces \('mine', 'other'\)"):
        read_working_dir(tmp_path / "rag")


def test_a_directory_without_a_graph_has_documents_only(tmp_path: Path) -> None:
    found = read_working_dir(write(tmp_path / "rag", graph=False))
    assert (len(found.documents), found.entities, found.relations) == (2, (), ())


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("kv_store_text_chunks.json", '{"chunk-a1": {"full_', "is damaged or half-written"),
        ("kv_store_text_chunks.json", '{"chunk-a1": {"content": "x"}}', "another form .*'full_doc_id'.*1.4 and 1.5"),
        ("kv_store_text_chunks.json", "[]", "another form .rows are not objects"),
        ("kv_store_doc_status.json", '{"a": 1}', "another form .rows are not objects"),
        ("graph_chunk_entity_relation.graphml", "<graphml><node", "is damaged or half-written"),
        ("graph_chunk_entity_relation.graphml", "", "is damaged or half-written"),
    ],
)
def test_broken_files_are_reported_by_name(tmp_path: Path, file: str, content: str, message: str) -> None:
    folder = write(tmp_path / "rag")
    (folder / file).write_text(content)
    with pytest.raises(InputError, match=f"{file}: .*{message}"):
        read_working_dir(folder)


def test_folders_that_are_no_working_directories(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        read_working_dir(tmp_path / "nowhere")
    with pytest.raises(InputError, match="it has no kv_store"):
        read_working_dir(tmp_path)


def test_a_directory_that_another_process_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "rag")
    read = importing._read_graph

    def read_while_written(file: Path) -> Any:
        shutil.copy(folder / "kv_store_doc_status.json", folder / "kv_store_llm_response_cache.json")
        return read(file)

    monkeypatch.setattr(importing, "_read_graph", read_while_written)
    with pytest.raises(InputError, match="another process has it open"):
        read_working_dir(folder)
