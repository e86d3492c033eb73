"""Paperscope's side of `bench graph` and `bench query`: a library of synthetic papers."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from numpy import float32
from numpy.typing import NDArray

from evaluation.peers.protocol import PeerDocument
from evaluation.peers.synthetic import synthetic_paper
from evaluation.peers.timing import Clock, GrowingLibrary, grow, questions_over, time_questions, write_report
from graph_store import NativeGraphIndex, Store
from paperscope.adding import AddRequest, Pipeline
from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.protocols import PageCallback
from paperscope_core.text.words import entity_key
from paperscope_core.types import (
    Box,
    Chunk,
    Entity,
    Extraction,
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
from query import Retriever

__all__ = ["Library", "extraction_of", "open_library", "paper_of", "run_growth", "run_queries"]


_MAX_WORDS = 180
_MAX_MB = 200
_DIMENSION = 384


@dataclass(frozen=True, kw_only=True, slots=True)
class Library:
    """An open library that held `papers` papers when it was opened; what is added can be found after `catch_up`."""

    papers: int
    add: Callable[[PeerDocument], Awaitable[None]]
    retrieve: Callable[[str], Awaitable[int]]
    catch_up: Callable[[], None]


class _Embedder:
    """A deterministic embedder whose seconds don't count."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._fake = FakeEmbedder(dimension=_DIMENSION)
        self.name = self._fake.name
        self.dimension = _DIMENSION

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        return await self._clock.leave_out(self._fake.embed(texts))


class _FixedPaper:
    """Parser and extractor that hand over what was made, whatever the file says."""

    def __init__(self) -> None:
        self.document: PeerDocument | None = None

    def parse(
        self,
        file: PaperFile,
        *,
        on_page: PageCallback | None = None,  # noqa: ARG002 # the protocol's
    ) -> ParsedPaper:
        return ParsedPaper(paper=paper_of(self._known(), sha256=content_hash(file.path.read_bytes())))

    async def extract(
        self,
        paper: Paper,
        chunks: Sequence[Chunk],  # noqa: ARG002 # the protocol's
        images: PaperImages = PaperImages(),  # noqa: ARG002 # the protocol's
    ) -> Extraction:
        return extraction_of(self._known(), paper)

    def _known(self) -> PeerDocument:
        if self.document is None:
            raise ValueError("no document was given")
        return self.document


def paper_of(document: PeerDocument, *, sha256: str) -> Paper:
    """A paper of one page with a passage for each unit."""
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
    """The document's entities and relations, standing on the paper's passages."""
    passages = {unit.id: element.id for unit, element in zip(document.units, paper.elements, strict=True)}
    return Extraction(
        entities=tuple(
            Entity(
                id=entity_key(entity.name),
                name=entity.name,
                type=entity.type,
                description=entity.description,
                sources=tuple(passages[unit] for unit in entity.units),
            )
            for entity in document.entities
        ),
        relations=tuple(
            Relation(
                source=entity_key(relation.source),
                target=entity_key(relation.target),
                kind=relation.keywords,
                description=relation.description,
                sources=tuple(passages[unit] for unit in relation.units),
                weight=relation.weight,
            )
            for relation in document.relations
        ),
    )


@contextmanager
def open_library(folder: Path, clock: Clock) -> Iterator[Library]:
    """Our library in a folder, made where there is none. The index takes in at leaving what it has not yet."""
    embedder, made = _Embedder(clock), _FixedPaper()
    with (
        closing(Store.open(folder)) as store,
        closing(NativeGraphIndex.open(store, embedder=embedder.name)) as index,
        tempfile.TemporaryDirectory() as files,
    ):
        pipeline = Pipeline(
            store=store,
            parser=made,
            extractor=made,
            asks_model=False,
            embedder=embedder,
            captioner=None,
            max_words=_MAX_WORDS,
            max_mb=_MAX_MB,
        )
        retriever = Retriever(store, index, embedder)

        async def add(document: PeerDocument) -> None:
            made.document = document
            file = Path(files) / f"{document.id}.txt"
            file.write_text(document.title, encoding="utf-8")
            await pipeline.add(AddRequest(file=PaperFile(file)), None)

        async def retrieve(question: str) -> int:
            return len((await retriever.retrieve(question)).context.sources)

        yield Library(papers=len(store.entries()), add=add, retrieve=retrieve, catch_up=index.catch_up)
        index.catch_up()


async def _grow(folder: Path, *, papers: int, seed: int, out: Path, marks: Sequence[int]) -> None:
    clock = Clock()
    with open_library(folder / "library", clock) as library, out.open("w", encoding="utf-8") as stream:

        async def add(document: PeerDocument) -> None:
            await library.add(document)
            library.catch_up()

        growing = GrowingLibrary(add=add, retrieve=library.retrieve, folder=folder / "library", clock=clock)
        await grow(growing, papers=papers, seed=seed, marks=marks, stream=stream)


def run_growth(arguments: Sequence[str]) -> None:
    """PAPERS SEED STEPS.jsonl MARK..."""
    papers, seed, out, *marks = arguments
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(
            _grow(Path(folder), papers=int(papers), seed=int(seed), out=Path(out), marks=[int(mark) for mark in marks])
        )


async def _make(folder: Path, stream: TextIO, *, papers: int, seed: int) -> None:
    started = time.perf_counter()
    with open_library(folder, Clock()) as library:
        for number in range(library.papers + 1, papers + 1):
            await library.add(synthetic_paper(number, seed=seed))
    write_report(stream, folder, papers=papers, seconds=time.perf_counter() - started)


async def _ask(folder: Path, stream: TextIO, *, papers: int, seed: int, count: int) -> None:
    questions = questions_over(papers, count=count, seed=seed)
    clock, started = Clock(), time.perf_counter()
    with open_library(folder, clock) as library:
        seconds = time.perf_counter() - started
        asked = await time_questions(questions, library.retrieve, clock=clock)
    write_report(stream, folder, papers=library.papers, seconds=seconds, asked=asked)


def run_queries(arguments: list[str]) -> None:
    """STEP PAPERS SEED FOLDER OUT [COUNT]"""
    step, papers, seed, folder, out, *count = arguments
    with Path(out).open("w", encoding="utf-8") as stream:
        if step == "make":
            asyncio.run(_make(Path(folder), stream, papers=int(papers), seed=int(seed)))
        else:
            asyncio.run(_ask(Path(folder), stream, papers=int(papers), seed=int(seed), count=int(count[0])))


if __name__ == "__main__":
    (run_growth if sys.argv[1].isdigit() else run_queries)(sys.argv[1:])
