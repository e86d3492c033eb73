"""LightRAG's side of `bench query`, in a process of its own: `python -m evaluation.peers.lightrag_querying STEP ...`.

`make PAPERS SEED FOLDER OUT` hands all papers to `ainsert_custom_kg` at once, merged as LightRAG merges what it
extracts: one by one it takes quadratic time. `ask PAPERS SEED FOLDER OUT COUNT` loads the stores and asks `aquery_data`
in mode `mix`, with LightRAG's own limits. No model is called, and no connection is made.
"""

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

from evaluation.peers.growing import Clock
from evaluation.peers.index import findable
from evaluation.peers.job import PeerCorpus
from evaluation.peers.lightrag import fill, make_rag, search_chunks
from evaluation.peers.lightrag_growing import Words
from evaluation.peers.querying import questions_over, tell, time_questions
from evaluation.peers.runner import refuse_network
from evaluation.peers.synthetic import synthetic_paper

__all__ = ["main"]


_DIMENSION = 384
_CHUNKS = 8


@asynccontextmanager
async def _opened(folder: Path, clock: Clock) -> AsyncIterator[Any]:
    from paperscope_core.models.fakes import FakeEmbedder

    embedder = FakeEmbedder(dimension=_DIMENSION)

    async def embed(texts: list[str]) -> Any:  # noqa: ANN401
        return await clock.leave_out(embedder.embed(texts))

    # LightRAG calls its stores after the folder, and a library that is made is renamed.
    rag = make_rag(folder / "library", embed=embed, dimension=_DIMENSION, tokens=Words(), name="words")
    await rag.initialize_storages()
    yield rag
    await rag.finalize_storages()


async def _make(folder: Path, stream: TextIO, *, papers: int, seed: int) -> None:
    started = time.perf_counter()
    documents = tuple(synthetic_paper(number, seed=seed) for number in range(1, papers + 1))
    corpus = PeerCorpus(name=folder.name, documents=documents, questions=())
    async with _opened(folder, Clock()) as rag:
        await fill(rag, corpus, findable(corpus), with_graph=True)
    tell(stream, folder, papers=papers, seconds=time.perf_counter() - started)


async def _ask(folder: Path, stream: TextIO, *, papers: int, seed: int, count: int) -> None:
    questions = questions_over(papers, count=count, seed=seed)
    clock, started = Clock(), time.perf_counter()
    async with _opened(folder, clock) as rag:
        seconds = time.perf_counter() - started

        async def retrieve(question: str) -> int:
            return len(await search_chunks(rag, question, mode="mix", limit=_CHUNKS))

        asked = await time_questions(questions, retrieve, clock=clock)
    tell(stream, folder, papers=papers, seconds=seconds, asked=asked)


def main(arguments: list[str]) -> None:
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
    main(sys.argv[1:])
