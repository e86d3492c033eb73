"""Retrieval systems under test: Paperscope's own modes, and peers."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from graph_store import Store
from graph_store.index import INDEXES
from graph_store.lightrag.index import LightRAGGraphIndex
from paperscope.lightrag import text_vectors
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, ModelError, SettingsError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.models import build_reranker, find_weights
from paperscope_core.protocols import GraphIndex, Reranker
from paperscope_core.settings import RetrievalSettings
from paperscope_core.types import Chunk, Paper, Place, RetrievalRequest, places_of
from paperscope_lab.evaluation.libraries import BuiltLibrary, Libraries
from paperscope_lab.evaluation.peers.client import PEERS_PYTHON, PeerResults, peer_document, run_peer
from paperscope_lab.evaluation.peers.protocol import Found, PeerCorpus, PeerJob, PeerQuestion
from paperscope_lab.evaluation.provenance import code_fingerprint
from paperscope_lab.evaluation.retrieval.corpora import Corpus, FoundText, PdfCorpus, Question, UnitsOf, hash_of
from query import Retriever
from query.outline import is_outline
from query.retrieval.candidates import best_first, fuse
from query.retrieval.retriever import CANDIDATES

__all__ = ["LIMIT", "OWN_MODES", "OpenCorpora", "OpenCorpus", "OwnSystem", "PeerSystem", "RetrievalSystem"]


# The number of requested texts: enough for ten distinct pages or papers.
LIMIT = 50
OWN_MODES = ("fused+graph", "fused+named", "fused", "words", "vectors", "fused+graph+rerank")
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

    def ranking(self, found: list[FoundText]) -> list[str]:
        """Return the units of the texts found, each once, in order of first appearance."""
        return list(dict.fromkeys(unit for text in found for unit in self.units_of(text)))


class OpenCorpora:
    """Opens each corpus once; their libraries stay open as long as `libraries`."""

    def __init__(self, libraries: Libraries) -> None:
        self.libraries = libraries
        self._opened: dict[str, OpenCorpus] = {}

    def open(self, corpus: Corpus) -> OpenCorpus:
        """Return the corpus's library, built on first use. Raises PaperscopeError."""
        if corpus.name not in self._opened:
            built = corpus.build_library(self.libraries)
            store = self.libraries.store(built)
            chunks: dict[str, FoundText] = {}
            ids: dict[tuple[Place, str], str] = {}
            for paper in store.papers():
                for chunk, text in _found_texts(paper, store.indexed(paper.id).chunks):
                    chunks[chunk.id] = text
                    ids.setdefault((chunk.place, chunk.text), chunk.id)
            self._opened[corpus.name] = OpenCorpus(
                corpus=corpus, built=built, store=store, units_of=corpus.units_in(built), chunks=chunks, ids=ids
            )
        return self._opened[corpus.name]


def _found_texts(paper: Paper, chunks: tuple[Chunk, ...]) -> Iterator[tuple[Chunk, FoundText]]:
    pages_of = {element.id: [place.page for place in places_of(element)] for element in paper.elements}
    for chunk in chunks:
        pages = dict.fromkeys([chunk.place.page, *(page for element in chunk.elements for page in pages_of[element])])
        yield chunk, FoundText(paper=paper.id, elements=chunk.elements, pages=tuple(pages), text=chunk.text)


class OwnSystem:
    """Paperscope's retrieval, step by step; its indexes stay open as long as `stack`.

    "words" and "vectors" are the two rankings that it starts from, and "fused" is their fusion. "fused+named" also
    promotes what the question names ("Table 8"). "fused+graph" also promotes chunks linked to the question through the
    graph; it is what a question uses, but with more sources and without a word limit. "fused+graph+rerank" reranks its
    best chunks with the configured reranker. All modes start from the index that `retrieval.index` names. Raises
    InputError if no reranker is configured, or if the index needs a package that is not installed.
    """

    def __init__(self, libraries: Libraries, mode: str, stack: ExitStack) -> None:
        self._libraries = libraries
        self._mode = mode
        self._stack = stack
        self._indexes: dict[str, GraphIndex] = {}
        self._reranker: Reranker | None = None
        self.facts: dict[str, str] = {}
        if mode == "fused+graph+rerank":
            self._reranker = build_reranker(libraries.settings.retrieval)
            if self._reranker is None:
                raise InputError(f"mode {mode!r}: no reranker is set; name a cross-encoder as retrieval.reranker")
            self.facts["reranker"] = libraries.settings.retrieval.reranker

    def find(self, opened: OpenCorpus, question: Question) -> list[FoundText]:
        """Return texts of the corpus, best first. Raises PaperscopeError."""
        listed = self._mode in ("words", "vectors", "fused")
        # LightRAG's index has a loop of its own, so it is neither opened nor asked in this one.
        index = self._index(opened)
        return asyncio.run((self._listed if listed else self._retrieved)(opened, index, question.text))

    async def _retrieved(self, opened: OpenCorpus, index: GraphIndex, question: str) -> list[FoundText]:
        retriever = Retriever(
            opened.store,
            index,
            self._libraries.embedder,
            reranker=self._reranker,
            settings=RetrievalSettings(chunks=LIMIT, tokens=_NO_BUDGET),
            graph=self._mode != "fused+named",
        )
        sources = (await retriever.retrieve(question)).context.sources
        chunks = [source for source in sources if not is_outline(source)]
        return [opened.chunks[opened.ids[source.place, source.content]] for source in chunks]

    async def _listed(self, opened: OpenCorpus, index: GraphIndex, question: str) -> list[FoundText]:
        vector = (await self._libraries.embedder.embed([question]))[0]
        limit = CANDIDATES if self._mode == "fused" else LIMIT
        request = RetrievalRequest(text=question, vector=vector, limit=limit)
        candidates = await asyncio.to_thread(index.retrieve, request)
        if self._mode == "fused":
            texts = {chunk: found.text for chunk, found in opened.chunks.items()}
            return [opened.chunks[chunk] for chunk in best_first(fuse(candidates, texts))]
        hits = candidates.by_words if self._mode == "words" else candidates.by_vectors
        return [opened.chunks[hit.id] for hit in hits]

    def _index(self, opened: OpenCorpus) -> GraphIndex:
        if opened.corpus.name not in self._indexes:
            self._indexes[opened.corpus.name] = self._stack.enter_context(closing(self._open_index(opened.store)))
        return self._indexes[opened.corpus.name]

    def _open_index(self, store: Store) -> GraphIndex:
        embedder, settings = self._libraries.embedder, self._libraries.settings.retrieval
        if settings.index != "lightrag":
            return INDEXES[settings.index].open(store, embedder=embedder.name)
        texts = text_vectors(store, embedder, asyncio.run)
        return LightRAGGraphIndex.open(store, texts, mode=settings.lightrag_mode)


class PeerSystem:
    """A peer by name, with our embedder. It gets our chunks, unless it reads PDFs itself.

    `folder` caches the results. Raises SettingsError unless the embedder is a folder of weights, and InputError if the
    peer isn't installed.
    """

    def __init__(self, name: str, libraries: Libraries, folder: Path, *, python: Path | None = None) -> None:
        embed = libraries.settings.embed
        weights = find_weights(embed.model) if embed.local else None
        if weights is None or not weights.local:
            raise SettingsError(f"mode {name!r} needs an embedder in a folder; leave embed.model empty, or name one")
        self._job = PeerJob(system=name, weights=weights.location, limit=LIMIT, corpora=())
        self._folder = folder
        self._python = python or PEERS_PYTHON
        self._results: dict[str, PeerResults] = {}
        tried = run_peer(self._job, python=self._python)
        if tried.note:
            raise InputError(f"mode {name!r}: {tried.note}")
        self.facts = {"peer": tried.package}

    def find(self, opened: OpenCorpus, question: Question) -> list[FoundText]:
        """Return texts of the corpus, best first. Raises ModelError if the peer failed."""
        name = opened.corpus.name
        if name not in self._results:
            self._results[name] = self._ask_all(opened)
        results = self._results[name]
        answer = next((answer for answer in results.answers if answer.question == question.name), None)
        problems = [problem for indexed in results.indexed for problem in indexed.problems]
        read_nothing = any(indexed.problems and not indexed.units for indexed in results.indexed)
        if answer is None or answer.problem or read_nothing:
            reason = (answer.problem if answer else "") or results.note or (problems or ["it stopped before"])[0]
            raise ModelError(f"{self.facts['peer']} did not answer: {reason}")
        return [_found_text(found, opened) for found in answer.found]

    def _ask_all(self, opened: OpenCorpus) -> PeerResults:
        """Return the peer's results for all questions of the corpus, cached if it finished."""
        corpus, store = opened.corpus, opened.store
        pdf = corpus.file if isinstance(corpus, PdfCorpus) else None
        asked = PeerCorpus(
            name=corpus.name,
            documents=tuple(peer_document(store.indexed(paper.id), file=pdf) for paper in store.papers()),
            questions=tuple(PeerQuestion(id=question.name, text=question.text) for question in corpus.questions),
        )
        job = replace(self._job, corpora=(asked,))
        key = hash_of(code_fingerprint("paperscope_lab.evaluation.peers"), self.facts["peer"], to_json(job))
        file = self._folder / f"{key}.json"
        if cached := _read_cached(file):
            return cached
        results = run_peer(job, python=self._python)
        if not results.note:
            with output_errors(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(file, to_json(results).encode())
        return results


RetrievalSystem = OwnSystem | PeerSystem


def _read_cached(file: Path) -> PeerResults | None:
    try:
        return from_json(PeerResults, file.read_bytes())
    except (OSError, ValueError):
        return None


def _found_text(found: Found, opened: OpenCorpus) -> FoundText:
    """Convert one of our chunks, or a text of the peer's own chunking."""
    if found.unit:
        return opened.chunks[found.unit]
    return FoundText(paper=found.document, elements=(), pages=found.pages, text=found.text)
