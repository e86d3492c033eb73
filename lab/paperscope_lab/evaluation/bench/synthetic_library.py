"""The Paperscope worker of `bench graph` and `bench query`: a library of synthetic papers.

Papers go through all of `paperscope add` except for reading a file: chunking, the store's transaction, merging, and
updating the index. Run in a separate process: see `evaluation.peers.timing`.
"""

import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

from numpy import float32
from numpy.typing import NDArray

from graph_store import NativeGraphIndex, Store
from ingest.chunking import chunk_paper
from paperscope.adding import AddRequest, Pipeline
from paperscope_core.models import CachedEmbedder
from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.processes import collect_rarely
from paperscope_core.protocols import Embedder, PageCallback
from paperscope_core.types import (
    Box,
    Chunk,
    Entity,
    Extraction,
    IndexedPaper,
    Page,
    Paper,
    PaperFile,
    PaperImages,
    ParsedPaper,
    Passage,
    Place,
    Relation,
    content_hash,
)
from paperscope_lab.evaluation.peers.protocol import PeerDocument
from paperscope_lab.evaluation.peers.timing import Clock, TimedLibrary, run_worker
from query import Retriever

__all__ = ["TimedEmbedder", "add_document", "extraction_of", "open_library", "paper_of", "write_documents"]

# Above any file here, and the dimension of the default embedder.
_MAX_MB = 200
_DIMENSION = 384


class TimedEmbedder(FakeEmbedder):
    """A deterministic embedder whose time is excluded."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(dimension=_DIMENSION)
        self._clock = clock

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embeds texts; see `Embedder`."""
        return await self._clock.leave_out(super().embed(texts))


class _FixedPaper:
    """A parser and extractor that return a document, whatever the file contains."""

    def __init__(self, document: PeerDocument) -> None:
        self.document = document

    def parse(
        self,
        file: PaperFile,
        *,
        on_page: PageCallback | None = None,  # noqa: ARG002 # the protocol's
    ) -> ParsedPaper:
        return ParsedPaper(paper=paper_of(self.document, sha256=content_hash(file.path.read_bytes())))

    async def extract(
        self,
        paper: Paper,
        chunks: Sequence[Chunk],  # noqa: ARG002 # the protocol's
        images: PaperImages = PaperImages(),  # noqa: ARG002 # the protocol's
    ) -> Extraction:
        return extraction_of(self.document, paper)


def paper_of(document: PeerDocument, *, sha256: str) -> Paper:
    """A paper of one page with one passage per unit."""
    paper = sha256[:12]
    passages = tuple(
        Passage(
            id=f"{paper}/passage-{order}",
            place=Place(paper=paper, page=1, box=Box(50, 10 * order, 500, 10 * order + 9)),
            order=order,
            text=unit.text,
        )
        for order, unit in enumerate(document.units, start=1)
    )
    return Paper(
        id=paper,
        title=document.title,
        authors=(),
        sha256=sha256,
        file=f"{document.id}.txt",
        pages=(Page(number=1, width=612, height=792),),
        sections=(),
        elements=passages,
    )


def extraction_of(document: PeerDocument, paper: Paper) -> Extraction:
    """The document's entities and relations, with the paper's passages as their sources."""
    passages = {unit.id: element.id for unit, element in zip(document.units, paper.elements, strict=True)}

    def sources(item: Entity | Relation) -> tuple[str, ...]:
        return tuple(passages[unit] for unit in item.sources)

    return Extraction(
        entities=tuple(replace(entity, sources=sources(entity)) for entity in document.entities),
        relations=tuple(replace(relation, sources=sources(relation)) for relation in document.relations),
    )


async def add_document(store: Store, embedder: Embedder, document: PeerDocument) -> None:
    """Adds a paper to the store, with everything that `paperscope add` does after reading the file."""
    given = _FixedPaper(document)
    pipeline = Pipeline(
        store=store,
        parser=given,
        extractor=given,
        embedder=CachedEmbedder(embedder, store),
        max_mb=_MAX_MB,
    )
    with tempfile.TemporaryDirectory() as files:
        file = Path(files) / f"{document.id}.txt"
        file.write_text(document.title, encoding="utf-8")
        await pipeline.add(AddRequest(path=file), None)


async def write_documents(store: Store, embedder: Embedder, documents: Iterable[PeerDocument]) -> None:
    """Writes papers to the store: the same rows as `add_document`, except for the cache of embeddings, in less time."""
    for document in documents:
        paper = paper_of(document, sha256=content_hash(document.title.encode()))
        chunks = chunk_paper(paper)
        indexed = IndexedPaper(
            paper=paper,
            chunks=chunks,
            extraction=extraction_of(document, paper),
            vectors=await embedder.embed([chunk.searched for chunk in chunks]),
        )
        store.add(indexed, crops={}, source=f"/synthetic/{document.id}.txt", embedder=embedder.name)


@asynccontextmanager
async def open_library(folder: Path, clock: Clock) -> AsyncIterator[TimedLibrary]:
    """Opens the library in a folder, or creates an empty one. The index is updated on closing."""
    embedder = TimedEmbedder(clock)
    with (
        closing(Store.open(folder)) as store,
        closing(NativeGraphIndex.open(store, embedder=embedder.name)) as index,
    ):
        retriever = Retriever(store, index, embedder)

        async def add_all(documents: Iterable[PeerDocument]) -> None:
            await write_documents(store, embedder, documents)

        async def add(document: PeerDocument) -> None:
            await add_document(store, embedder, document)
            index.catch_up()

        async def retrieve(question: str) -> int:
            # As `Library.retrieve` does.
            with store.pinned(store.revision):
                store.entries()
                return len((await retriever.retrieve(question)).context.sources)

        yield TimedLibrary(papers=len(store.entries()), add=add, add_all=add_all, retrieve=retrieve)
        index.catch_up()


if __name__ == "__main__":
    # As the command line and the service do.
    collect_rarely()
    run_worker(sys.argv[1:], open_library)
