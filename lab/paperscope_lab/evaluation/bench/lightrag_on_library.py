"""The worker of `bench query` for LightRAG on our storages: a Paperscope library of synthetic papers.

It asks what `evaluation.peers.lightrag_library` asks. Run in a separate process: see `evaluation.peers.timing`.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing
from pathlib import Path

from graph_store import Store
from graph_store.lightrag.adapter import make_lightrag
from graph_store.lightrag.reader import LibraryReader
from paperscope.lightrag import text_vectors
from paperscope_lab.evaluation.bench.synthetic_library import TimedEmbedder, add_document, write_documents
from paperscope_lab.evaluation.peers.lightrag import search_chunks
from paperscope_lab.evaluation.peers.lightrag_library import CHUNKS, WordTokenizer
from paperscope_lab.evaluation.peers.protocol import PeerDocument
from paperscope_lab.evaluation.peers.timing import Clock, TimedLibrary, run_worker

__all__: list[str] = []


@asynccontextmanager
async def open_library(folder: Path, clock: Clock) -> AsyncIterator[TimedLibrary]:
    """Opens the library in a folder, or creates an empty one. The vectors of a new graph are stored on closing."""
    embedder = TimedEmbedder(clock)
    with closing(Store.open(folder)) as store:
        reader = LibraryReader(store, text_vectors(store, embedder, asyncio.run))
        rag = make_lightrag(reader, tokenizer=WordTokenizer())
        await rag.initialize_storages()

        async def add_all(documents: Iterable[PeerDocument]) -> None:
            await write_documents(store, embedder, documents)
            await _search_once(reader)

        async def add(document: PeerDocument) -> None:
            await add_document(store, embedder, document)
            await _search_once(reader)

        async def retrieve(question: str) -> int:
            return len(await search_chunks(rag, question, mode="mix", limit=CHUNKS))

        yield TimedLibrary(papers=len(store.entries()), add=add, add_all=add_all, retrieve=retrieve)
        await rag.finalize_storages()


async def _search_once(reader: LibraryReader) -> None:
    """Computes the vectors that the first question would compute."""
    view = await reader.view()
    for kind in ("entities", "relationships"):
        await asyncio.to_thread(view.table, kind)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    run_worker(sys.argv[1:], open_library)
