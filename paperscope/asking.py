"""Answers questions on a library whose papers may change in the meantime."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TypeVar

from graph_store import NativeGraphIndex, Store
from graph_store.reading import find_entry
from paperscope_core.models import CachedEmbedder, Models
from paperscope_core.models.cache import MemoryVectorCache
from paperscope_core.models.tokens import token_counter
from paperscope_core.settings import Settings
from paperscope_core.types import Answer, AnswerEvent, Context, Filters, TextEvent, Turn
from query import QueryEngine, RetrievalOptions

__all__ = ["AskRequest", "Asker", "build_engine"]

T = TypeVar("T")

# Vectors of sentences and questions that an open library keeps in memory: 12 MB at 384 dimensions, plus the texts.
_CACHED_VECTORS = 8192


@dataclass(frozen=True, kw_only=True, slots=True)
class AskRequest:
    """A question and its options. See `Library.ask`."""

    question: str
    papers: Sequence[str] = ()
    filters: Filters = field(default_factory=Filters)
    history: Sequence[Turn] = ()
    on_stage: Callable[[str], None] = lambda _stage: None


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a query engine.

    If a paper that a question uses is removed in the meantime, the question is asked again of the remaining papers.
    Model calls are cached, so that only changed calls are paid for again.
    """

    store: Store
    engine: QueryEngine

    async def ask(self, request: AskRequest) -> Answer:
        """Answer a question. See `Library.ask`."""
        filters = await asyncio.to_thread(self._resolve_papers, request)
        return await self._repeat_if_removed(
            lambda: self.engine.ask(
                request.question, filters=filters, history=request.history, on_stage=request.on_stage
            )
        )

    async def stream(self, request: AskRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Answer a question while passing on events. See `Library.stream`."""
        filters = await asyncio.to_thread(self._resolve_papers, request)
        anew, done = False, False
        while not done:
            revision = self.store.revision
            try:
                events = self.engine.stream(request.question, filters=filters, history=request.history)
                async with aclosing(events):
                    async for event in events:
                        if anew and isinstance(event, TextEvent):
                            anew = False
                            yield replace(event, anew=True)
                        else:
                            yield event
                done = True
            except KeyError:
                if not self._removed_since(revision):
                    raise
                # The text so far is void.
                anew = True

    async def retrieve(self, request: AskRequest) -> Context:
        """Retrieve a context. See `Library.retrieve`."""
        filters = await asyncio.to_thread(self._resolve_papers, request)
        retrieved = await self._repeat_if_removed(lambda: self.engine.retrieve(request.question, filters=filters))
        return retrieved.context

    def _resolve_papers(self, request: AskRequest) -> Filters:
        """The filters with the ids of all papers that the request names."""
        entries = self.store.entries()
        names = (*request.filters.papers, *request.papers)
        return replace(request.filters, papers=tuple(find_entry(entries, name).id for name in names))

    async def _repeat_if_removed(self, work: Callable[[], Awaitable[T]]) -> T:
        while True:
            revision = self.store.revision
            try:
                return await work()
            except KeyError:
                if not self._removed_since(revision):
                    raise

    def _removed_since(self, revision: int) -> bool:
        return any(change.action == "removed" for change in self.store.changes_since(revision))


def build_engine(store: Store, index: NativeGraphIndex, *, models: Models, settings: Settings) -> QueryEngine:
    """Build the query engine of a library.

    Raises:
        SettingsError: The tokenizer can't be read.
    """
    retrieval = settings.retrieval
    return QueryEngine(
        store,
        index,
        CachedEmbedder(models.embedder, MemoryVectorCache(store, size=_CACHED_VECTORS)),
        answer_model=models.answer,
        vision_model=models.vision,
        reranker=models.reranker,
        options=RetrievalOptions(
            sources=retrieval.chunks,
            tokens=retrieval.tokens,
            entities=retrieval.entities,
            relations=retrieval.relations,
            images=retrieval.images,
            graph=retrieval.graph,
        ),
        count=token_counter(settings.answer.tokenizer),
        decompose=settings.answer.decompose,
    )
