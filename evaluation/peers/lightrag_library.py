"""LightRAG's side of `bench graph` and `bench query`: a library of synthetic papers."""

import asyncio
import logging
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

from evaluation.peers.lightrag import fill, make_rag, search_chunks
from evaluation.peers.protocol import PeerCorpus, PeerDocument, units_with_text
from evaluation.peers.runner import refuse_network
from evaluation.peers.synthetic import synthetic_paper
from evaluation.peers.timing import Clock, GrowingLibrary, grow, questions_over, time_questions, write_report

__all__ = ["WordTokenizer", "run_growth", "run_queries"]


_DIMENSION = 384
_CHUNKS = 8


class WordTokenizer:
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

    rag = make_rag(folder, embed=embed, dimension=_DIMENSION, tokens=WordTokenizer(), name="words")
    await rag.initialize_storages()

    async def add(document: PeerDocument) -> None:
        await rag.ainsert_custom_kg(_custom_graph(document))

    async def retrieve(question: str) -> int:
        return len(await search_chunks(rag, question, mode="mix", limit=_CHUNKS))

    with out.open("w", encoding="utf-8") as stream:
        library = GrowingLibrary(add=add, retrieve=retrieve, folder=folder, clock=clock)
        await grow(library, papers=papers, seed=seed, marks=marks, stream=stream)
    await rag.finalize_storages()


def run_growth(arguments: Sequence[str]) -> None:
    """Raises ModuleNotFoundError where LightRAG is not installed."""
    sys.addaudithook(refuse_network)
    logging.disable(logging.WARNING)
    papers, seed, out, *marks = arguments
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(
            _grow(Path(folder), papers=int(papers), seed=int(seed), out=Path(out), marks=[int(mark) for mark in marks])
        )


@asynccontextmanager
async def _opened(folder: Path, clock: Clock) -> AsyncIterator[Any]:
    from paperscope_core.models.fakes import FakeEmbedder

    embedder = FakeEmbedder(dimension=_DIMENSION)

    async def embed(texts: list[str]) -> Any:  # noqa: ANN401
        return await clock.leave_out(embedder.embed(texts))

    # LightRAG calls its stores after the folder, and a library that is made is renamed.
    rag = make_rag(folder / "library", embed=embed, dimension=_DIMENSION, tokens=WordTokenizer(), name="words")
    await rag.initialize_storages()
    yield rag
    await rag.finalize_storages()


async def _make(folder: Path, stream: TextIO, *, papers: int, seed: int) -> None:
    started = time.perf_counter()
    documents = tuple(synthetic_paper(number, seed=seed) for number in range(1, papers + 1))
    corpus = PeerCorpus(name=folder.name, documents=documents, questions=())
    async with _opened(folder, Clock()) as rag:
        await fill(rag, corpus, units_with_text(corpus), with_graph=True)
    write_report(stream, folder, papers=papers, seconds=time.perf_counter() - started)


async def _ask(folder: Path, stream: TextIO, *, papers: int, seed: int, count: int) -> None:
    questions = questions_over(papers, count=count, seed=seed)
    clock, started = Clock(), time.perf_counter()
    async with _opened(folder, clock) as rag:
        seconds = time.perf_counter() - started

        async def retrieve(question: str) -> int:
            return len(await search_chunks(rag, question, mode="mix", limit=_CHUNKS))

        asked = await time_questions(questions, retrieve, clock=clock)
    write_report(stream, folder, papers=papers, seconds=seconds, asked=asked)


def run_queries(arguments: list[str]) -> None:
    """Raises ModuleNotFoundError where LightRAG is not installed."""
    sys.addaudithook(refuse_network)
    logging.disable(logging.WARNING)
    step, papers, seed, folder, out, *count = arguments
    with Path(out).open("w", encoding="utf-8") as stream:
        if step == "make":
            asyncio.run(_make(Path(folder), stream, papers=int(papers), seed=int(seed)))
        else:
            asyncio.run(_ask(Path(folder), stream, papers=int(papers), seed=int(seed), count=int(count[0])))


if __name__ == "__main__":
    (run_growth if sys.argv[1].isdigit() else run_queries)(sys.argv[1:])
