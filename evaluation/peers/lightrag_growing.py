"""LightRAG's side of `bench graph`: `python -m evaluation.peers.lightrag_growing PAPERS SEED STEPS.jsonl MARK...`.

Each paper is one `ainsert_custom_kg`; then one question in mode `mix`. No model is called, and no connection is made.
"""

import asyncio
import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.peers.growing import Clock, Growing, grow
from evaluation.peers.job import PeerDocument
from evaluation.peers.lightrag import make_rag, search_chunks
from evaluation.peers.runner import refuse_network

__all__ = ["Words", "main"]


_DIMENSION = 384
_CHUNKS = 8


class Words:
    """A number for each word, in place of a table that LightRAG would fetch."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def encode(self, content: str) -> list[int]:
        """Numbers of the words."""
        return [self._numbers.setdefault(word, len(self._numbers)) for word in content.split()]

    def decode(self, tokens: list[int]) -> str:
        """The words of numbers."""
        words = list(self._numbers)
        return " ".join(words[token] for token in tokens)


def _custom_graph(document: PeerDocument) -> dict[str, list[dict[str, Any]]]:
    return {
        "chunks": [{"content": unit.text, "source_id": unit.id, "file_path": document.id} for unit in document.units],
        "entities": [
            {
                "entity_name": entity.name,
                "entity_type": entity.type,
                "description": entity.description,
                "source_id": entity.units[0],
                "file_path": document.id,
            }
            for entity in document.entities
        ],
        "relationships": [
            {
                "src_id": relation.source,
                "tgt_id": relation.target,
                "description": relation.description,
                "keywords": relation.keywords,
                "weight": relation.weight,
                "source_id": relation.units[0],
                "file_path": document.id,
            }
            for relation in document.relations
        ],
    }


async def _grow(folder: Path, *, papers: int, seed: int, out: Path, marks: Sequence[int]) -> None:
    from paperscope_core.models.fakes import FakeEmbedder

    clock, embedder = Clock(), FakeEmbedder(dimension=_DIMENSION)

    async def embed(texts: list[str]) -> Any:  # noqa: ANN401
        return await clock.leave_out(embedder.embed(texts))

    rag = make_rag(folder, embed=embed, dimension=_DIMENSION, tokens=Words(), name="words")
    await rag.initialize_storages()

    async def add(document: PeerDocument) -> None:
        await rag.ainsert_custom_kg(_custom_graph(document))

    async def retrieve(question: str) -> int:
        return len(await search_chunks(rag, question, mode="mix", limit=_CHUNKS))

    with out.open("w", encoding="utf-8") as stream:
        library = Growing(add=add, retrieve=retrieve, folder=folder, clock=clock)
        await grow(library, papers=papers, seed=seed, marks=marks, stream=stream)
    await rag.finalize_storages()


def main(arguments: Sequence[str]) -> None:
    """Raises ModuleNotFoundError where LightRAG is not installed."""
    sys.addaudithook(refuse_network)
    logging.disable(logging.WARNING)
    papers, seed, out, *marks = arguments
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(
            _grow(Path(folder), papers=int(papers), seed=int(seed), out=Path(out), marks=[int(mark) for mark in marks])
        )


if __name__ == "__main__":
    main(sys.argv[1:])
