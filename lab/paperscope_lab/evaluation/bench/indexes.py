"""`bench indexes`: the index of a machine and the search in PostgreSQL over the same library."""

import argparse
import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from sqlalchemy import text

from graph_store import Store
from graph_store.index import INDEXES, IndexName, LibraryIndex
from ingest.chunking import chunk_paper
from ingest.extraction import extractor_for
from paperscope_core.errors import InputError
from paperscope_core.locations import PostgresAddress, parse_location
from paperscope_core.models import build_embedder
from paperscope_core.protocols import Embedder
from paperscope_core.settings import Settings
from paperscope_core.types import Candidates, Chunk, Filters, Hit, IndexedPaper, Paper, RetrievalRequest
from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.gold.text_papers import TextSection, text_paper
from paperscope_lab.evaluation.rendering import table
from paperscope_lab.evaluation.retrieval.sets import load_corpora
from query import RetrievalOptions

__all__ = ["DESCRIPTION", "HELP", "Measured", "add_options", "mixed_paper", "overlap", "run"]

HELP = "the native index and the search in PostgreSQL over the same library"
DESCRIPTION = (
    "Stores the papers of QASPER and ArgSciChat in a new library in PostgreSQL, fills it with synthetic papers, whose "
    "chunks mix two real ones, builds both indexes, and asks both the papers' questions: how many of the ten best they "
    "share, seconds to build, milliseconds a question, and bytes a chunk."
)
_SETS = ("qasper", "argscichat")
_BEST = 10
_CHUNKS_OF_PAPER = 60
_NOISE = 0.3
_NAMES: tuple[IndexName, ...] = ("native", "postgresql")
_TABLES = """
SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
WHERE relname LIKE 'search\\_%' AND relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """What an index did at a size of the library, over questions with one kind of filter.

    `words`, `vectors` and `named` are the shares of the ten best that both indexes found; `short` is the number of
    questions for which it found fewer chunks by vectors than the other index. `build` is in seconds.
    """

    index: str
    chunks: int
    filters: str
    build: float
    chunk_bytes: float
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    words: float
    vectors: float
    named: float
    short: int


def add_options(command: argparse.ArgumentParser) -> None:
    """Adds the options of `indexes`."""
    command.add_argument("--data", type=Path, required=True, metavar="DIR", help="the gold data: eval/ and papers/")
    command.add_argument(
        "--database", required=True, metavar="ADDRESS", help="a library's address; a new one, or one that this made"
    )
    command.add_argument(
        "--chunks", type=int, nargs="+", default=[0], metavar="N", help="fill up to N chunks (0: real papers only)"
    )
    command.add_argument("--questions", type=int, default=100, metavar="N", help="at each size (default: 100)")
    command.add_argument("--keep", action="store_true", help="ask the indexes that are there, instead of new ones")
    add_out(command)


def run(options: argparse.Namespace) -> int:
    """Returns 0."""
    location = parse_location(options.database)
    if not isinstance(location, PostgresAddress):
        raise InputError(f"--database {options.database!r} is no address of a library in PostgreSQL")
    embedder = build_embedder(Settings().embed)
    found: list[Measured] = []
    with closing(Store.open(location)) as store:
        questions = asyncio.run(_store_papers(store, embedder, options.data))[: options.questions]
        vectors = asyncio.run(embedder.embed(questions))
        for chunks in sorted(options.chunks):
            _fill(store, embedder.name, chunks)
            found += _measure(store, embedder.name, questions, vectors, keep=options.keep)
    header = ["index", "chunks", "filter", "built in s", "bytes/chunk", "p50 ms", "p95 ms", "CPU ms"]
    header += [f"words @{_BEST}", f"vectors @{_BEST}", f"named @{_BEST}", "short"]
    rows = [
        [
            one.index,
            str(one.chunks),
            one.filters,
            f"{one.build:.1f}",
            f"{one.chunk_bytes:.0f}",
            *(f"{value:.1f}" for value in (one.p50_ms, one.p95_ms, one.cpu_ms)),
            *(f"{value:.4f}" for value in (one.words, one.vectors, one.named)),
            str(one.short),
        ]
        for one in found
    ]
    print_page([*table(header, rows), f"{len(questions)} questions at each size."])
    write_figures(options.out, found)
    return 0


async def _store_papers(store: Store, embedder: Embedder, data: Path) -> list[str]:
    """Stores the real papers that are missing; returns their questions, one of each paper in turn."""
    corpora, _ = load_corpora(data, folder=data)
    known = {entry.id for entry in store.entries()}
    asked: list[list[str]] = []
    for corpus in corpora:
        paper = getattr(corpus, "paper", None)
        if corpus.name.partition("/")[0] not in _SETS or not isinstance(paper, Paper):
            continue
        asked.append([question.text for question in corpus.questions])
        if paper.id not in known:
            known.add(paper.id)
            chunks = chunk_paper(paper)
            extraction = await extractor_for(None, Settings().extract).extract(paper, chunks)
            vectors = await embedder.embed([chunk.text for chunk in chunks])
            indexed = IndexedPaper(paper=paper, chunks=chunks, extraction=extraction, vectors=vectors)
            store.add(indexed, crops={}, source=paper.id, embedder=embedder.name)
    longest = max(map(len, asked), default=0)
    return [texts[turn] for turn in range(longest) for texts in asked if turn < len(texts)]


def _fill(store: Store, embedder: str, chunks: int) -> None:
    """Adds synthetic papers until there are so many chunks."""
    missing = chunks - store.count_chunks()
    if missing <= 0:
        return
    real = [store.indexed(entry.id) for entry in store.entries() if not entry.file.startswith("mixed")]
    pool = [(chunk, vector) for one in real for chunk, vector in zip(one.chunks, one.vectors, strict=True)]
    made = sum(entry.file.startswith("mixed") for entry in store.entries())
    for number in count(made):
        if missing <= 0:
            return
        indexed = mixed_paper(number, real, pool)
        store.add(indexed, crops={}, source=indexed.paper.id, embedder=embedder)
        missing -= len(indexed.chunks)


def mixed_paper(
    number: int, real: Sequence[IndexedPaper], pool: Sequence[tuple[Chunk, NDArray[float32]]]
) -> IndexedPaper:
    """A paper whose chunks have half of the words of two real chunks each, and the mean of their vectors with noise;
    with the entities of a real paper, and without relations."""
    rng, noise = random.Random(number), np.random.default_rng(number)  # noqa: S311 # no secret
    pairs = [(rng.choice(pool), rng.choice(pool)) for _ in range(_CHUNKS_OF_PAPER)]
    texts = [" ".join(half for (chunk, _) in pair if (half := _half(chunk.text, rng))) for pair in pairs]
    sections = [TextSection(path=(str(place),), paragraphs=(one,)) for place, one in enumerate(texts)]
    paper = text_paper(f"mixed-{number}", title="", sections=sections)
    chunks = chunk_paper(paper)
    # A long mixture may be cut into two chunks.
    sums = np.stack([pairs[place % len(pairs)][0][1] + pairs[place % len(pairs)][1][1] for place in range(len(chunks))])
    vectors = sums + _NOISE * noise.standard_normal(sums.shape) / np.sqrt(sums.shape[1])
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(float32)
    sources = (paper.elements[0].id,)
    entities = tuple(replace(entity, sources=sources, mentions=()) for entity in rng.choice(real).extraction.entities)
    extraction = replace(real[0].extraction, entities=entities, relations=(), verdicts=())
    return IndexedPaper(paper=paper, chunks=chunks, extraction=extraction, vectors=vectors)


def _half(chunk: str, rng: random.Random) -> str:
    words = chunk.split()
    first = rng.randrange(len(words) // 2 + 1)
    return " ".join(words[first : first + (len(words) + 1) // 2])


def _measure(
    store: Store, embedder: str, questions: Sequence[str], vectors: NDArray[float32], *, keep: bool
) -> Iterator[Measured]:
    papers = tuple(entry.id for entry in store.entries())
    kinds: dict[str, Filters] = {
        "none": Filters(),
        "a tenth of the papers": Filters(papers=papers[::10]),
        "half of the papers": Filters(papers=papers[::2]),
    }
    chunks = store.count_chunks()
    limit = RetrievalOptions().candidates
    built: dict[IndexName, tuple[LibraryIndex, float]] = {}
    for name in _NAMES:
        started = time.perf_counter()
        build = INDEXES[name].open if keep else INDEXES[name].rebuild
        built[name] = build(store, embedder=embedder), time.perf_counter() - started
    for label, filters in kinds.items():
        requests = [
            RetrievalRequest(text=question, vector=vector, filters=filters, limit=limit)
            for question, vector in zip(questions, vectors, strict=True)
        ]
        answers = {name: [_timed(built[name][0], request) for request in requests] for name in _NAMES}
        for name, other in zip(_NAMES, reversed(_NAMES), strict=True):
            own = [one for one, _, _ in answers[name]]
            others = [one for one, _, _ in answers[other]]
            seconds = [wall for _, wall, _ in answers[name]]
            p50, p95 = np.percentile(seconds, (50, 95)).tolist()
            yield Measured(
                index=name,
                chunks=chunks,
                filters=label,
                build=built[name][1],
                chunk_bytes=_size(store, name) / max(chunks, 1),
                p50_ms=1000 * p50,
                p95_ms=1000 * p95,
                cpu_ms=1000 * fmean(cpu for _, _, cpu in answers[name]),
                words=fmean(overlap(a.by_words, b.by_words) for a, b in zip(own, others, strict=True)),
                vectors=fmean(overlap(a.by_vectors, b.by_vectors) for a, b in zip(own, others, strict=True)),
                named=fmean(overlap(a.named, b.named) for a, b in zip(own, others, strict=True)),
                short=sum(len(a.by_vectors) < len(b.by_vectors) for a, b in zip(own, others, strict=True)),
            )
    for index, _ in built.values():
        index.close()


def _timed(index: LibraryIndex, request: RetrievalRequest) -> tuple[Candidates, float, float]:
    """The candidates, with the seconds and the processor's seconds of this process."""
    started, used = time.perf_counter(), time.process_time()
    found = index.retrieve(request)
    return found, time.perf_counter() - started, time.process_time() - used


def overlap(one: Sequence[Hit], other: Sequence[Hit]) -> float:
    """The share of the ten best that two rankings have in common; 1 if both are empty."""
    first, second = ({hit.id for hit in hits[:_BEST]} for hits in (one, other))
    return len(first & second) / max(len(first), len(second)) if first or second else 1.0


def _size(store: Store, name: IndexName) -> float:
    """The bytes that an index takes on disk."""
    if name == "native":
        return sum(file.stat().st_size for file in store.index_folder.rglob("*") if file.is_file())
    with store.database.read() as connection:
        return float(connection.execute(text(_TABLES)).scalar_one())
