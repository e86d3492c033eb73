"""A library that retrieves with LightRAG, and `Library.lightrag`."""

from pathlib import Path

import pytest

from paperscope.library import Library
from paperscope_core.settings import RetrievalSettings, Settings
from paperscope_core.types import Answer

pytestmark = pytest.mark.slow
pytest.importorskip("lightrag")

QUESTION = "Which model has the highest entity F1 on the 1,000 sentences?"


def ask(folder: Path, *, index: str) -> Answer:
    retrieval = RetrievalSettings.model_validate({"index": index, "lightrag_mode": "local"})
    with Library.open(folder, settings=Settings(retrieval=retrieval)) as library:
        return library.ask(QUESTION)


def test_an_answer_from_its_candidates_cites_boxes(example_library: Path) -> None:
    answer = ask(example_library, index="lightrag")
    assert answer.status == ask(example_library, index="native").status
    places = [evidence.place for claim in answer.claims for evidence in claim.evidence]
    assert places
    assert all(place.box.width > 0 for place in places)


async def test_a_lightrag_for_code_that_uses_it(example_library: Path) -> None:
    with Library.open(example_library, settings=Settings()) as library:
        rag = library.lightrag()
        await rag.initialize_storages()
        assert "Entity F1" in await rag.get_graph_labels()
        graph = await rag.get_knowledge_graph("Entity F1", max_depth=1)
        assert len(graph.nodes) > 2
        await rag.finalize_storages()
