"""What finds texts: a system answers a question about an opened corpus with the best texts first."""

import asyncio
from contextlib import ExitStack, closing
from typing import Literal, Protocol, get_args

from evaluation.libraries import Libraries
from evaluation.retrieval.opened import Opened
from evaluation.retrieval.values import Find, Question
from graph_store import NativeGraphIndex
from paperscope_core.errors import InputError
from paperscope_core.models import build_reranker
from paperscope_core.protocols import Reranker
from paperscope_core.types import RetrievalRequest
from query import RetrievalOptions, Retriever
from query.retrieval.candidates import best_first, fuse

__all__ = ["LIMIT", "OWN_MODES", "OwnMode", "OwnSystem", "RetrievalSystem"]


# How many texts a system is asked for: enough for ten distinct pages or papers among them.
LIMIT = 50
OwnMode = Literal["fused+graph", "fused+named", "fused", "words", "vectors", "fused+graph+rerank"]
OWN_MODES: tuple[OwnMode, ...] = get_args(OwnMode)
_NO_BUDGET = 10**9


class RetrievalSystem(Protocol):
    """Finds texts."""

    @property
    def facts(self) -> dict[str, str]:
        """What it is, for the report."""
        ...

    def find(self, opened: Opened, question: Question) -> list[Find]:
        """Texts of the corpus, the best first. Raises PaperscopeError."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class OwnSystem:
    """Ours, step by step.

    "words" and "vectors" are the two lists that it starts from, "fused" is their fusion; "fused+named" also lifts what
    the question names ("Table 8"), "fused+graph" what is linked to it or states something on it too, and is what a
    question meets, only with more sources and no limit to their words; "fused+graph+rerank" has the reranker that is
    set read the best of these. Raises InputError where none is.
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

    def find(self, opened: Opened, question: Question) -> list[Find]:
        """See `RetrievalSystem.find`."""
        index = self._index(opened)
        if self._mode in ("words", "vectors", "fused"):
            return asyncio.run(self._listed(opened, index, question.text))
        return asyncio.run(self._retrieved(opened, index, question.text))

    def close(self) -> None:
        """See `RetrievalSystem.close`."""
        self._open.close()

    async def _retrieved(self, opened: Opened, index: NativeGraphIndex, question: str) -> list[Find]:
        options = RetrievalOptions(sources=LIMIT, tokens=_NO_BUDGET, graph=self._mode != "fused+named")
        embedder = self._libraries.embedder
        retriever = Retriever(opened.store, index, embedder, reranker=self._reranker, options=options)
        sources = (await retriever.retrieve(question)).context.sources
        return [opened.chunks[opened.ids[source.place, source.content]] for source in sources]

    async def _listed(self, opened: Opened, index: NativeGraphIndex, question: str) -> list[Find]:
        vector = (await self._libraries.embedder.embed([question]))[0]
        limit = RetrievalOptions().candidates if self._mode == "fused" else LIMIT
        candidates = index.retrieve(RetrievalRequest(text=question, vector=vector, limit=limit))
        if self._mode == "fused":
            return [opened.chunks[chunk] for chunk in best_first(fuse(candidates))]
        hits = candidates.by_words if self._mode == "words" else candidates.by_vectors
        return [opened.chunks[hit.id] for hit in hits]

    def _index(self, opened: Opened) -> NativeGraphIndex:
        if opened.corpus.name not in self._indexes:
            index = NativeGraphIndex.open(opened.store, embedder=self._libraries.embedder.name)
            self._indexes[opened.corpus.name] = self._open.enter_context(closing(index))
        return self._indexes[opened.corpus.name]
