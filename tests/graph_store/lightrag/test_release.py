"""The contract with the installed release of LightRAG: its abstract methods, its registry, and what a query returns."""

import abc
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from graph_store import Store
from graph_store.lightrag import adapter
from graph_store.lightrag.adapter import STORAGES, import_lightrag, make_lightrag, query_param, register, storage_class
from graph_store.lightrag.vectors import TextVectors
from graph_store.lightrag.view import LibraryReader
from paperscope_core.errors import InputError, ModelError, StoreReadOnlyError
from tests.graph_store.indexed_papers import DIMENSION, EMBEDDER, PAPER_IDS, add, make_indexed
from tests.graph_store.lightrag.conftest import ONE, embed

pytestmark = pytest.mark.slow
pytest.importorskip("lightrag")

QUESTION = "How does BERT compare with F1?"
MODES = ("local", "global", "hybrid", "mix", "naive")


async def ask(rag: Any, mode: str) -> dict[str, Any]:
    param = query_param(mode=mode, hl_keywords=[QUESTION], ll_keywords=[QUESTION], enable_rerank=False)
    reply: dict[str, Any] = await rag.aquery_data(QUESTION, param)
    return reply


def test_the_release_is_the_one_that_the_project_pins(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"lightrag-hku=={adapter.VERSION}" in project["optional-dependencies"]["lightrag"]
    assert version("lightrag-hku") == adapter.VERSION


def test_every_abstract_method_is_implemented() -> None:
    for name in STORAGES.values():
        assert not getattr(storage_class(name), "__abstractmethods__", None)


def test_a_release_with_another_method_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    base = import_lightrag("lightrag.base")

    class Newer(base.BaseGraphStorage):  # type: ignore[misc, name-defined] # LightRAG has no types
        @abc.abstractmethod
        async def get_wormholes(self) -> None: ...

    monkeypatch.setattr(base, "BaseGraphStorage", Newer)
    storage_class.cache_clear()
    with pytest.raises(
        InputError, match=r"lightrag-hku \S+ can't be used: BaseGraphStorage requires get_wormholes; .*=="
    ):
        storage_class("PaperscopeGraphStorage")
    storage_class.cache_clear()


def test_a_release_with_another_registry_is_refused(reader: LibraryReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_lightrag("lightrag.kg"), "STORAGE_IMPLEMENTATIONS", {})
    with pytest.raises(InputError, match=r"its registry of storages has another form \(KeyError\('KV_STORAGE'\)\)"):
        register(reader)


def test_a_missing_package_is_reported_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightrag", None)
    with pytest.raises(InputError, match=r"pip install 'paperscope\[lightrag\]'"):
        import_lightrag("lightrag")


async def test_what_a_query_of_each_mode_returns(reader: LibraryReader) -> None:
    rag = make_lightrag(reader, cosine_better_than_threshold=-1.0)
    await rag.initialize_storages()
    for mode in MODES:
        reply = await ask(rag, mode)
        assert reply["status"] == "success", reply
        assert set(reply["data"]) == {"entities", "relationships", "chunks", "references"}
        assert all(one["chunk_id"] in reader.newest().snapshot.chunks for one in reply["data"]["chunks"])
        assert all(one["entity_name"] in reader.newest().nodes for one in reply["data"]["entities"])
        ends = {one[end] for one in reply["data"]["relationships"] for end in ("src_id", "tgt_id")}
        assert ends <= set(reader.newest().nodes)
        assert reply["data"]["chunks"]
        assert bool(reply["data"]["entities"]) == bool(reply["data"]["relationships"]) == (mode != "naive")
    assert await rag.get_graph_labels() == ["BERT", "Dice loss", "F1", "SST-5", "focal loss"]
    documents, total = await rag.doc_status.get_docs_paginated()
    assert (total, {document: status.status for document, status in documents}) == (
        2,
        dict.fromkeys(PAPER_IDS[:2], "processed"),
    )
    await rag.finalize_storages()


async def test_a_query_finds_nothing_in_an_empty_library(store: Store, reader: LibraryReader) -> None:
    for paper in PAPER_IDS[:2]:
        store.remove(paper)
    rag = make_lightrag(reader)
    await rag.initialize_storages()
    for mode in MODES:
        reply = await ask(rag, mode)
        assert (reply["status"], reply["metadata"]["failure_reason"]) == ("failure", "no_results")
    await rag.finalize_storages()


async def test_a_document_is_refused_and_nothing_changes(store: Store, reader: LibraryReader) -> None:
    rag = make_lightrag(reader)
    await rag.initialize_storages()
    before = sorted(store.folder.rglob("*"))
    with pytest.raises(StoreReadOnlyError, match="add or remove papers with Paperscope"):
        await rag.ainsert("A text.")
    with pytest.raises(StoreReadOnlyError):
        await rag.ainsert_custom_kg({"chunks": [{"content": "A text.", "source_id": "a", "file_path": "a"}]})
    assert store.revision == 2
    assert sorted(store.folder.rglob("*")) == before, "LightRAG writes no file"
    await rag.finalize_storages()


async def test_two_libraries_of_a_process_share_nothing(tmp_path: Path, reader: LibraryReader) -> None:
    other = Store.open(tmp_path / "other" / "library")
    add(other, make_indexed(ONE, names=("GPT-2", "XLNet")))
    rags = [
        make_lightrag(one)
        for one in (reader, LibraryReader(other, TextVectors(embed, embedder=EMBEDDER, dimension=DIMENSION)))
    ]
    for rag in rags:
        await rag.initialize_storages()
    assert "BERT" in await rags[0].get_graph_labels()
    assert await rags[1].get_graph_labels() == ["GPT-2", "XLNet"]
    assert await rags[0].doc_status.get_status_counts() != await rags[1].doc_status.get_status_counts()
    for rag in rags:
        await rag.finalize_storages()
    other.close()


async def test_a_model_that_is_not_set_is_named(reader: LibraryReader) -> None:
    rag = make_lightrag(reader, cosine_better_than_threshold=-1.0)
    await rag.initialize_storages()
    with pytest.raises(ModelError, match="set PAPERSCOPE_MODEL, or call aquery_data"):
        await rag.aquery(QUESTION, query_param(mode="naive", enable_rerank=False))
    await rag.finalize_storages()


def test_importing_reads_no_env_file_and_opens_no_connection(tmp_path: Path, root: Path) -> None:
    (tmp_path / ".env").write_text("TOP_K=7\nPAPERSCOPE_WAS_READ=1\n")
    program = (
        "import os, socket\n"
        "def refuse(*_): raise AssertionError('a connection')\n"
        "socket.socket.connect = refuse\n"
        "from graph_store.lightrag.adapter import import_lightrag, query_param\n"
        "import_lightrag()\n"
        "assert query_param().top_k == 40\n"
        "assert not {'PAPERSCOPE_WAS_READ', 'PYTHON_DOTENV_DISABLED'} & set(os.environ)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)  # noqa: S603


def test_nothing_imports_lightrag_before_it_is_used(root: Path) -> None:
    program = (
        "import sys, paperscope.library, service.cli.commands, graph_store.lightrag.adapter\n"
        "assert 'lightrag' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True)  # noqa: S603
