"""A library that retrieves with LightRAG, and `Library.lightrag`."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from graph_store import Store
from graph_store.lightrag.index import LightRAGGraphIndex
from paperscope.library import Library
from paperscope.lightrag import text_vectors
from paperscope_core.errors import InputError
from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.settings import RetrievalSettings, Settings
from paperscope_core.types import Answer

pytest.importorskip("lightrag")

QUESTION = "Which model has the highest entity F1 on the 1,000 sentences?"


def ask(folder: Path, *, index: str) -> Answer:
    retrieval = RetrievalSettings.model_validate({"index": index, "lightrag_mode": "local"})
    with Library.open(folder, settings=Settings(retrieval=retrieval)) as library:
        return library.ask(QUESTION)


def test_questions_are_not_stored_and_entities_are(tmp_path: Path) -> None:
    embedder = FakeEmbedder(dimension=4)
    with closing(Store.open(tmp_path)) as store:
        texts = text_vectors(store, embedder, asyncio.run)
        assert texts.embed_questions(["What is F1?"]).shape == (1, 4)
        texts.of("entities", ["F1"])
        assert list(store.get_vectors(embedder.name, ["What is F1?", "F1"])) == ["F1"]


def test_a_release_that_can_not_be_used_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise InputError("LightRAG is not installed")

    monkeypatch.setattr(LightRAGGraphIndex, "open", refuse)
    settings = Settings(retrieval=RetrievalSettings(index="lightrag"))
    with pytest.raises(InputError, match="LightRAG is not installed"):
        Library.open(tmp_path, settings=settings)


@pytest.mark.slow
def test_an_answer_from_its_candidates_cites_boxes(example_library: Path) -> None:
    answer = ask(example_library, index="lightrag")
    assert answer.status == ask(example_library, index="native").status
    places = [evidence.place for claim in answer.claims for evidence in claim.evidence]
    assert places
    assert all(place.box.width > 0 for place in places)


@pytest.mark.slow
async def test_a_lightrag_for_code_that_uses_it(example_library: Path) -> None:
    with Library.open(example_library, settings=Settings()) as library:
        rag = library.lightrag()
        await rag.initialize_storages()
        assert "Entity F1" in await rag.get_graph_labels()
        graph = await rag.get_knowledge_graph("Entity F1", max_depth=1)
        assert len(graph.nodes) > 2
        await rag.finalize_storages()
