"""The LightRAG worker of `bench graph` and `bench query`: a library of synthetic papers.

`add` calls `ainsert_custom_kg` once per paper. `add_all` passes all papers to one call, merged as LightRAG merges what
it extracts, because adding them one by one takes quadratic time. Questions use mode `mix` with LightRAG's default
limits. No model is called and no connection is opened. Run in a separate process: see `evaluation.peers.timing`.
"""

import logging
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from paperscope_lab.evaluation.peers.lightrag import fill, make_rag, search_chunks
from paperscope_lab.evaluation.peers.protocol import PeerCorpus, PeerDocument, units_with_text
from paperscope_lab.evaluation.peers.runner import refuse_network
from paperscope_lab.evaluation.peers.timing import Clock, TimedLibrary, run_worker

__all__ = ["CHUNKS", "WordTokenizer", "open_library"]

# The dimension of the default embedder, and the number of chunks that Paperscope's context holds.
_DIMENSION = 384
CHUNKS = 8


class WordTokenizer:
    """Numbers the words, instead of a vocabulary that LightRAG would download."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Itself: LightRAG copies its options for each question, and copies of its own tokenizer share their words."""
        return self

    def encode(self, content: str) -> list[int]:
        """The numbers of the words."""
        return [self._numbers.setdefault(word, len(self._numbers)) for word in content.split()]

    def decode(self, tokens: list[int]) -> str:
        """The words of numbers."""
        words = list(self._numbers)
        return " ".join(words[token] for token in tokens)


@asynccontextmanager
async def open_library(
    folder: Path, clock: Clock, *, vectors: str = "NanoVectorDBStorage"
) -> AsyncIterator[TimedLibrary]:
    """Opens the library in a folder, or creates an empty one, with one of LightRAG's vector storages.

    Raises:
        ModuleNotFoundError: LightRAG is not installed.
    """
    from paperscope_core.models.fakes import FakeEmbedder

    embedder = FakeEmbedder(dimension=_DIMENSION)

    async def embed(texts: list[str]) -> Any:  # noqa: ANN401
        return await clock.leave_out(embedder.embed(texts))

    # LightRAG names its stores after the folder, but a finished library's folder is renamed.
    rag = make_rag(
        folder / "library",
        embed=embed,
        dimension=_DIMENSION,
        tokens=WordTokenizer(),
        name="words",
        vector_storage=vectors,
    )
    await rag.initialize_storages()

    async def add(document: PeerDocument) -> None:
        await rag.ainsert_custom_kg(_custom_graph(document))

    async def add_all(documents: Iterable[PeerDocument]) -> None:
        corpus = PeerCorpus(name=folder.name, documents=tuple(documents), questions=())
        await fill(rag, corpus, units_with_text(corpus), with_graph=True)

    async def retrieve(question: str) -> int:
        return len(await search_chunks(rag, question, mode="mix", limit=CHUNKS))

    yield TimedLibrary(papers=0, add=add, add_all=add_all, retrieve=retrieve)
    await rag.finalize_storages()


def _custom_graph(document: PeerDocument) -> dict[str, list[dict[str, Any]]]:
    names = {entity.id: entity.name for entity in document.entities}
    return {
        "chunks": [{"content": unit.text, "source_id": unit.id, "file_path": document.id} for unit in document.units],
        "entities": [
            {
                "entity_name": entity.name,
                "entity_type": entity.type,
                "description": entity.description,
                "source_id": entity.sources[0],
                "file_path": document.id,
            }
            for entity in document.entities
        ],
        "relationships": [
            {
                "src_id": names[relation.source],
                "tgt_id": names[relation.target],
                "description": relation.description,
                "keywords": relation.kind,
                "weight": relation.weight,
                "source_id": relation.sources[0],
                "file_path": document.id,
            }
            for relation in document.relations
        ],
    }


if __name__ == "__main__":
    sys.addaudithook(refuse_network)
    logging.disable(logging.WARNING)
    run_worker(sys.argv[1:], open_library)
