"""Libraries of synthetic papers from a seeded generator, for `bench graph` and `bench query`.

Papers go through all of `paperscope add` except for reading a file and extraction: chunking, the store's transaction,
merging, and updating the index. No model is loaded.
"""

import asyncio
import random
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from numpy import float32
from numpy.typing import NDArray

from graph_store import NativeGraphIndex, Store
from ingest.chunking import chunk_paper
from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.text.words import entity_key
from paperscope_core.types import Entity, Extraction, IndexedPaper, Paper, Relation
from paperscope_lab.evaluation.gold.text_papers import TextSection, text_paper
from query import Retriever

__all__ = [
    "CHUNKS",
    "ENTITIES",
    "RELATIONS",
    "SHARED",
    "SyntheticLibrary",
    "SyntheticPaper",
    "Times",
    "megabytes",
    "open_library",
    "papers_with",
    "questions_over",
    "synthetic_names",
    "synthetic_paper",
]

CHUNKS = 60
ENTITIES = 60
RELATIONS = 240
SHARED = ENTITIES // 3
_SHARED_NAMES = 5_000
_COMMON_WORDS = 20_000
_WORDS = 12  # of filler around each statement
_QUESTION_WORDS = 8  # of a question that names no entity
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_TYPES = ("method", "dataset", "metric", "task", "concept")
_KINDS = ("uses", "evaluated on", "measured by", "compared with", "part of")
_NAME_WEIGHTS = list(accumulate(1 / (rank + 1) for rank in range(_SHARED_NAMES)))
_WORD_WEIGHTS = list(accumulate(1 / (rank + 1) for rank in range(_COMMON_WORDS)))
# That of the default embedder.
_DIMENSION = 384


@dataclass(frozen=True, kw_only=True, slots=True)
class SyntheticPaper:
    """A paper of one passage per chunk, and what is extracted from it."""

    paper: Paper
    extraction: Extraction


def synthetic_paper(number: int, *, seed: int) -> SyntheticPaper:
    """Return the paper with this number, which depends on the number and the seed alone."""
    draw = _random(number, seed=seed)
    names = _names(draw, number)
    ids = [entity_key(name) for name in names]
    texts: list[list[str]] = [[] for _ in range(CHUNKS)]
    stated: list[tuple[int, int, str, str, int]] = []
    for index, (source, target) in enumerate(_pairs(draw, len(names))):
        chunk, kind = index % CHUNKS, draw.choice(_KINDS)
        sentence = " ".join((_sentence(draw), names[source], kind, names[target], _sentence(draw))) + "."
        texts[chunk].append(sentence)
        stated.append((source, target, kind, sentence, chunk))
    body = TextSection(path=(), paragraphs=tuple(map(" ".join, texts)))
    paper = text_paper(f"synthetic-{number}", title="", sections=[body])
    elements = [element.id for element in paper.elements]
    described = {end: sentence for source, target, _, sentence, _ in stated for end in (source, target)}
    sources: list[dict[str, None]] = [{} for _ in names]
    for source, target, _, _, chunk in stated:
        sources[source][elements[chunk]] = sources[target][elements[chunk]] = None
    entities = tuple(
        Entity(
            id=ids[place],
            name=name,
            type=_TYPES[len(name) % len(_TYPES)],
            description=described[place],
            sources=(*sources[place],),
        )
        for place, name in enumerate(names)
    )
    relations = tuple(
        Relation(source=ids[source], target=ids[target], kind=kind, description=sentence, sources=(elements[chunk],))
        for source, target, kind, sentence, chunk in stated
    )
    return SyntheticPaper(paper=paper, extraction=Extraction(entities=entities, relations=relations))


def synthetic_names(number: int, *, seed: int) -> list[str]:
    """Return the names of the entities of `synthetic_paper`, without its texts, which take most of the time."""
    return _names(_random(number, seed=seed), number)


def _random(number: int, *, seed: int) -> random.Random:
    # Seeded with a string, because hash() differs between processes.
    return random.Random(f"{seed} {number}")  # noqa: S311


def _names(draw: random.Random, number: int) -> list[str]:
    own = (f"{_word(1 + 7 * number + own)} {_word(own)} {number}" for own in range(ENTITIES - SHARED))
    return [*_shared_names(draw), *own]


def _pairs(draw: random.Random, entities: int) -> list[tuple[int, int]]:
    """Return distinct pairs; each entity is in at least one, and the first entities are in most."""
    weights = list(accumulate(1 / (rank + 5) for rank in range(entities)))
    pairs: dict[tuple[int, int], None] = {}
    sources = [*range(entities)]
    while len(pairs) < RELATIONS:
        source = sources.pop() if sources else draw.choices(range(entities), cum_weights=weights)[0]
        target = draw.choices(range(entities), cum_weights=weights)[0]
        while target == source:
            target = draw.randrange(entities)
        pairs.setdefault((min(source, target), max(source, target)))
    return list(pairs)


def _shared_names(draw: random.Random) -> list[str]:
    ranks: dict[int, None] = {}
    while len(ranks) < SHARED:
        ranks.setdefault(draw.choices(range(_SHARED_NAMES), cum_weights=_NAME_WEIGHTS)[0])
    return [f"{_word(3 * rank)} {_word(rank + 11)}" for rank in ranks]


def _sentence(draw: random.Random, *, count: int = _WORDS) -> str:
    """Return `count` of the words that all papers share, by Zipf's law."""
    return " ".join(map(_word, draw.choices(range(_COMMON_WORDS), cum_weights=_WORD_WEIGHTS, k=count)))


@lru_cache(maxsize=1 << 16)
def _word(rank: int) -> str:
    """Return a pronounceable word for a number, unique and always the same."""
    syllables = []
    rest = rank + len(_SYLLABLES)
    while rest:
        rest, digit = divmod(rest, len(_SYLLABLES))
        syllables.append(_SYLLABLES[digit])
    return "".join(syllables)


def papers_with(entities: int, *, seed: int) -> int:
    """Return the number of synthetic papers, from the first on, that together have this many distinct entities."""
    names: set[str] = set()
    papers = 0
    while len(names) < entities:
        papers += 1
        names.update(synthetic_names(papers, seed=seed))
    return papers


def questions_over(papers: int, *, count: int, seed: int) -> list[str]:
    """Return `count` questions about random papers of the first `papers`; the same ones for the same seed.

    They alternate between naming a shared entity and one of the paper alone, one of the paper alone, and no entity.
    """
    draw = random.Random(f"questions {seed} {papers}")  # noqa: S311
    questions = []
    for number in range(count):
        names = synthetic_names(draw.randint(1, papers), seed=seed)
        shared, own = draw.choice(names[:SHARED]), draw.choice(names[SHARED:])
        texts = (
            f"How does {shared} compare with {own}?",
            f"What is reported of {own}, and how was it measured?",
            f"Which results were found for {_sentence(draw, count=_QUESTION_WORDS)}?",
        )
        questions.append(texts[number % len(texts)])
    return questions


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Seconds by the clock and of the processor, without the embedder's."""

    wall: float
    cpu: float


class _TimedEmbedder(FakeEmbedder):
    """A deterministic embedder that adds up its own time."""

    def __init__(self) -> None:
        super().__init__(dimension=_DIMENSION)
        self.wall = self.cpu = 0.0

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts; see `Embedder`."""
        wall, cpu = time.perf_counter(), time.process_time()
        found = await super().embed(texts)
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        return found


class SyntheticLibrary:
    """An open library of synthetic papers."""

    def __init__(self, store: Store, index: NativeGraphIndex, embedder: _TimedEmbedder, runner: asyncio.Runner) -> None:
        self._store, self._index, self._embedder, self._runner = store, index, embedder, runner
        self._retriever = Retriever(store, index, embedder)

    @property
    def papers(self) -> int:
        """The number of papers."""
        return len(self._store.entries())

    def write(self, made: SyntheticPaper) -> None:
        """Store a paper, which can be found once the library is opened again."""
        self._runner.run(self._write(made))

    def add(self, made: SyntheticPaper) -> Times:
        """Store a paper and update the index."""

        async def add() -> None:
            await self._write(made)
            self._index.catch_up()

        return self._timed(add())[1]

    def retrieve(self, question: str) -> tuple[int, Times]:
        """Return the number of texts found, and the time."""

        async def retrieve() -> int:
            # As `Library.retrieve` does.
            with self._store.pinned(self._store.revision):
                self._store.entries()
                return len((await self._retriever.retrieve(question)).context.sources)

        return self._timed(retrieve())

    def _timed(self, work: Coroutine[Any, Any, Any]) -> tuple[Any, Times]:
        embedder = self._embedder
        wall, cpu = time.perf_counter() - embedder.wall, time.process_time() - embedder.cpu
        value = self._runner.run(work)
        return value, Times(
            wall=round(time.perf_counter() - embedder.wall - wall, 5),
            cpu=round(time.process_time() - embedder.cpu - cpu, 5),
        )

    async def _write(self, made: SyntheticPaper) -> None:
        chunks = chunk_paper(made.paper)
        vectors = await self._embedder.embed([chunk.searched for chunk in chunks])
        indexed = IndexedPaper(paper=made.paper, chunks=chunks, extraction=made.extraction, vectors=vectors)
        self._store.add(indexed, crops={}, source=f"/{made.paper.file}", embedder=self._embedder.name)


@contextmanager
def open_library(folder: Path) -> Iterator[SyntheticLibrary]:
    """Open the library in a folder, or create an empty one. The index is updated on closing."""
    embedder = _TimedEmbedder()
    with (
        closing(Store.open(folder)) as store,
        closing(NativeGraphIndex.open(store, embedder=embedder.name)) as index,
        asyncio.Runner() as runner,
    ):
        yield SyntheticLibrary(store, index, embedder, runner)
        index.catch_up()


def megabytes(folder: Path) -> float:
    """Return the size of the files of a folder in MB (2^20 bytes)."""
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / (1 << 20), 2)
