"""Retrieval systems under test: Paperscope's own modes, and peers."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, get_args

from evaluation.libraries import BuiltLibrary, Libraries
from evaluation.peers.client import PEERS_PYTHON, PeerResults, peer_document, run_peer
from evaluation.peers.protocol import Found, PeerAnswer, PeerCorpus, PeerJob, PeerQuestion, write_value
from evaluation.provenance import code_fingerprint
from evaluation.retrieval.corpora import Corpus, FoundText, Question, UnitsOf, hash_of
from graph_store import NativeGraphIndex, Store
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, ModelError, SettingsError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.models import build_reranker, find_weights
from paperscope_core.protocols import Reranker
from paperscope_core.types import Chunk, Element, Paper, Passage, Place, Reference, RetrievalRequest, Table
from query import RetrievalOptions, Retriever
from query.retrieval.candidates import best_first, fuse

__all__ = ["LIMIT", "OWN_MODES", "OpenCorpora", "OpenCorpus", "OwnMode", "OwnSystem", "PeerSystem", "RetrievalSystem"]


# The number of requested texts: enough for ten distinct pages or papers.
LIMIT = 50
OwnMode = Literal["fused+graph", "fused+named", "fused", "words", "vectors", "fused+graph+rerank"]
OWN_MODES: tuple[OwnMode, ...] = get_args(OwnMode)
_NO_BUDGET = 10**9


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenCorpus:
    """An open library: its chunks by id, and their ids by place and text, because a context has no chunk ids."""

    corpus: Corpus
    built: BuiltLibrary
    store: Store
    units_of: UnitsOf
    chunks: Mapping[str, FoundText]
    ids: Mapping[tuple[Place, str], str]

    def ranking(self, finds: list[FoundText]) -> list[str]:
        """The units of the texts found, each once, in order of first appearance."""
        return list(dict.fromkeys(unit for find in finds for unit in self.units_of(find)))


class OpenCorpora:
    """Opens each corpus once; their libraries stay open as long as `libraries`."""

    def __init__(self, libraries: Libraries) -> None:
        self.libraries = libraries
        self._opened: dict[str, OpenCorpus] = {}

    def open(self, corpus: Corpus) -> OpenCorpus:
        """Returns the corpus's library, built on first use. Raises PaperscopeError."""
        if corpus.name not in self._opened:
            built = corpus.build_library(self.libraries)
            store = self.libraries.store(built)
            chunks: dict[str, FoundText] = {}
            ids: dict[tuple[Place, str], str] = {}
            for paper in store.papers():
                for chunk, find in _found_texts(paper, store.indexed(paper.id).chunks):
                    chunks[chunk.id] = find
                    ids.setdefault((chunk.place, chunk.text), chunk.id)
            self._opened[corpus.name] = OpenCorpus(
                corpus=corpus, built=built, store=store, units_of=corpus.units_in(built), chunks=chunks, ids=ids
            )
        return self._opened[corpus.name]


def _found_texts(paper: Paper, chunks: tuple[Chunk, ...]) -> Iterator[tuple[Chunk, FoundText]]:
    elements = {element.id: element for element in paper.elements}
    for chunk in chunks:
        places = (place for key in chunk.elements for place in _places(elements[key]))
        pages = dict.fromkeys((chunk.place.page, *(place.page for place in places)))
        yield chunk, FoundText(paper=paper.id, elements=chunk.elements, pages=tuple(pages), text=chunk.text)


def _places(element: Element) -> tuple[Place, ...]:
    if isinstance(element, Passage | Reference | Table):
        return (element.place, *element.more_places)
    return (element.place,)


class RetrievalSystem(Protocol):
    """A retrieval system."""

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the system for the report."""
        ...

    def find(self, opened: OpenCorpus, question: Question) -> list[FoundText]:
        """Returns texts of the corpus, best first. Raises PaperscopeError."""
        ...

    def close(self) -> None:
        """Releases its resources."""
        ...


class OwnSystem:
    """Paperscope's retrieval, step by step.

    "words" and "vectors" are the two rankings that it starts from, and "fused" is their fusion. "fused+named" also
    promotes what the question names ("Table 8"). "fused+graph" also promotes chunks linked to the question through the
    graph; it is what a question uses, but with more sources and without a word limit. "fused+graph+rerank" reranks its
    best chunks with the configured reranker. Raises InputError if no reranker is configured.
    """

    def __init__(self, libraries: Libraries, mode: OwnMode) -> None:
        self._libraries = libraries
        self._mode = mode
        self._reranker: Reranker | None = None
        if mode == "fused+graph+rerank":
            self._reranker = build_reranker(libraries.settings.retrieval)
            if self._reranker is None:
                raise InputError(f"mode {mode!r}: no reranker is set; name a cross-encoder as retrieval.reranker")
        self._open = ExitStack()
        self._indexes: dict[str, NativeGraphIndex] = {}

    @property
    def facts(self) -> dict[str, str]:
        """See `RetrievalSystem.facts`."""
        return {"reranker": self._libraries.settings.retrieval.reranker} if self._reranker else {}

    def find(self, opened: OpenCorpus, question: Question) -> list[FoundText]:
        """See `RetrievalSystem.find`."""
        index = self._index(opened)
        if self._mode in ("words", "vectors", "fused"):
            return asyncio.run(self._listed(opened, index, question.text))
        return asyncio.run(self._retrieved(opened, index, question.text))

    def close(self) -> None:
        """See `RetrievalSystem.close`."""
        self._open.close()

    async def _retrieved(self, opened: OpenCorpus, index: NativeGraphIndex, question: str) -> list[FoundText]:
        options = RetrievalOptions(sources=LIMIT, tokens=_NO_BUDGET, graph=self._mode != "fused+named")
        embedder = self._libraries.embedder
        retriever = Retriever(opened.store, index, embedder, reranker=self._reranker, options=options)
        sources = (await retriever.retrieve(question)).context.sources
        return [opened.chunks[opened.ids[source.place, source.content]] for source in sources]

    async def _listed(self, opened: OpenCorpus, index: NativeGraphIndex, question: str) -> list[FoundText]:
        vector = (await self._libraries.embedder.embed([question]))[0]
        limit = RetrievalOptions().candidates if self._mode == "fused" else LIMIT
        candidates = index.retrieve(RetrievalRequest(text=question, vector=vector, limit=limit))
        if self._mode == "fused":
            return [opened.chunks[chunk] for chunk in best_first(fuse(candidates))]
        hits = candidates.by_words if self._mode == "words" else candidates.by_vectors
        return [opened.chunks[hit.id] for hit in hits]

    def _index(self, opened: OpenCorpus) -> NativeGraphIndex:
        if opened.corpus.name not in self._indexes:
            index = NativeGraphIndex.open(opened.store, embedder=self._libraries.embedder.name)
            self._indexes[opened.corpus.name] = self._open.enter_context(closing(index))
        return self._indexes[opened.corpus.name]


class PeerSystem:
    """A peer by name, with our embedder. It gets our chunks, unless it reads PDFs itself.

    `folder` caches the results. Raises SettingsError unless the embedder is a folder of weights, and InputError if the
    peer isn't installed.
    """

    def __init__(self, name: str, libraries: Libraries, folder: Path, *, python: Path | None = None) -> None:
        embed = libraries.settings.embed
        weights = find_weights(embed.model) if embed.provider == "local" else None
        if weights is None or not weights.local:
            raise SettingsError(f"mode {name!r} needs an embedder in a folder; leave embed.model empty, or name one")
        self._name = name
        self._weights = weights.location
        self._folder = folder
        self._python = python or PEERS_PYTHON
        self._results: dict[str, PeerResults] = {}
        tried = run_peer(PeerJob(system=name, weights=self._weights, limit=LIMIT, corpora=()), python=self._python)
        if tried.note:
            raise InputError(f"mode {name!r}: {tried.note}")
        self._package = tried.package

    @property
    def facts(self) -> dict[str, str]:
        """See `RetrievalSystem.facts`."""
        return {"peer": self._package}

    def find(self, opened: OpenCorpus, question: Question) -> list[FoundText]:
        """See `RetrievalSystem.find`. Raises ModelError if the peer failed."""
        name = opened.corpus.name
        if name not in self._results:
            self._results[name] = self._asked(opened)
        results = self._results[name]
        answer = next((answer for answer in results.answers if answer.question == question.name), None)
        if answer is None or answer.problem or _read_nothing(results):
            raise ModelError(f"{self._package} did not answer: {_reason(results, answer)}")
        return [_found_text(found, opened) for found in answer.found]

    def close(self) -> None:
        """See `RetrievalSystem.close`."""

    def _asked(self, opened: OpenCorpus) -> PeerResults:
        """The peer's results for all questions of the corpus, cached if it finished."""
        job = PeerJob(system=self._name, weights=self._weights, limit=LIMIT, corpora=(_peer_corpus(opened),))
        key = hash_of(code_fingerprint("evaluation/peers"), self._package, write_value(job))
        file = self._folder / f"{key}.json"
        if kept := _read_kept(file):
            return kept
        results = run_peer(job, python=self._python)
        if not results.note:
            with output_errors(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(file, to_json(results).encode())
        return results


def _read_nothing(results: PeerResults) -> bool:
    return any(indexed.problems and not indexed.units for indexed in results.indexed)


def _reason(results: PeerResults, answer: PeerAnswer | None) -> str:
    """Why there is no answer."""
    if answer and answer.problem:
        return answer.problem
    problems = (problem for indexed in results.indexed for problem in indexed.problems)
    return results.note or next(problems, "it stopped before")


def _peer_corpus(opened: OpenCorpus) -> PeerCorpus:
    file = opened.corpus.file
    return PeerCorpus(
        name=opened.corpus.name,
        documents=tuple(peer_document(opened.store.indexed(paper.id), file=file) for paper in opened.store.papers()),
        questions=tuple(PeerQuestion(id=question.name, text=question.text) for question in opened.corpus.questions),
    )


def _read_kept(file: Path) -> PeerResults | None:
    try:
        return from_json(PeerResults, file.read_bytes())
    except (OSError, ValueError):
        return None


def _found_text(found: Found, opened: OpenCorpus) -> FoundText:
    """Converts one of our chunks, or a text of the peer's own chunking."""
    if found.unit:
        return opened.chunks[found.unit]
    return FoundText(paper=found.document, elements=(), pages=found.pages, text=found.text)
