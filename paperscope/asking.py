"""Answers questions on a library whose papers may change in the meantime."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from graph_store import Store
from graph_store.reading import find_entry
from paperscope_core.errors import NotFoundError, StoreDamagedError
from paperscope_core.models import CachedEmbedder, Models
from paperscope_core.models.cache import MemoryVectorCache
from paperscope_core.protocols import GraphIndex
from paperscope_core.settings import Settings
from paperscope_core.types import Answer, AnswerEvent, Context, DoneEvent, Filters, Finding, TextEvent, Turn

if TYPE_CHECKING:
    from query import QueryEngine

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

    If a paper that a question uses is removed in the meantime, or is damaged, the question is asked again of the
    remaining papers. Model calls are cached, so that only changed calls are paid for again.
    """

    store: Store
    engine: "QueryEngine"

    async def ask(self, request: AskRequest) -> Answer:
        """Answer a question. See `Library.ask`."""
        attempts = _Attempts(self.store, request)
        answer = await attempts.repeat(
            lambda filters: self.engine.ask(
                request.question, filters=filters, history=request.history, on_stage=request.on_stage
            ),
            context=lambda answer: answer.context,
        )
        return attempts.completed(answer)

    async def stream(self, request: AskRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Answer a question while passing on events. See `Library.stream`."""
        attempts = _Attempts(self.store, request)
        # Whether the text so far is void.
        anew, done = False, False
        while not done:
            filters = await asyncio.to_thread(attempts.begin)
            try:
                events = self.engine.stream(request.question, filters=filters, history=request.history)
                async with aclosing(events), aclosing(self._pinned(events, attempts.revision)) as pinned:
                    async for event in pinned:
                        if anew and isinstance(event, TextEvent):
                            anew = False
                            yield replace(event, anew=True)
                        elif not isinstance(event, DoneEvent):
                            yield event
                        elif done := await asyncio.to_thread(attempts.is_current, event.answer.context):
                            yield replace(event, answer=attempts.completed(event.answer))
            except (NotFoundError, StoreDamagedError) as error:
                attempts.check(error)
            anew = True

    async def _pinned(
        self, events: AsyncGenerator[AnswerEvent, None], revision: int
    ) -> AsyncGenerator[AnswerEvent, None]:
        while True:
            # What runs in the meantime begins in this context, to which a generator must not return.
            with self.store.pinned(revision):
                event = await anext(events, None)
            if event is None:
                return
            yield event

    async def retrieve(self, request: AskRequest) -> Context:
        """Retrieve a context. See `Library.retrieve`."""
        attempts = _Attempts(self.store, request)
        retrieved = await attempts.repeat(
            lambda filters: self.engine.retrieve(request.question, filters=filters),
            context=lambda retrieved: retrieved.context,
        )
        return replace(retrieved.context, findings=(*attempts.findings, *retrieved.context.findings))


@dataclass(slots=True)
class _Attempts:
    """The attempts at a question, each on the papers that are left.

    Attributes:
        revision: The store's revision at the beginning of the last attempt.
        damaged: The papers that are left out because they are damaged, by id.
    """

    store: Store
    request: AskRequest
    revision: int = 0
    damaged: dict[str, StoreDamagedError] = field(default_factory=dict)

    def begin(self) -> Filters:
        """The filters of the next attempt, with the ids of all papers to ask. Raises UnknownPaperError."""
        self.revision = self.store.revision
        entries = self.store.entries()
        papers = tuple(find_entry(entries, name).id for name in self._names)
        if self.damaged and not papers:
            papers = tuple(entry.id for entry in entries if entry.id not in self.damaged)
        return replace(self.request.filters, papers=papers)

    async def repeat(self, work: Callable[[Filters], Awaitable[T]], *, context: Callable[[T], Context]) -> T:
        """The result of the first attempt that ends on papers that are still there; `context` is its context."""
        while True:
            filters = await asyncio.to_thread(self.begin)
            try:
                with self.store.pinned(self.revision):
                    result = await work(filters)
            except (NotFoundError, StoreDamagedError) as error:
                self.check(error)
            else:
                if await asyncio.to_thread(self.is_current, context(result)):
                    return result

    def check(self, error: NotFoundError | StoreDamagedError) -> None:
        """Raise the error of an attempt again, unless another attempt avoids it."""
        if isinstance(error, StoreDamagedError):
            if self._names or error.paper in self.damaged:
                raise error
            self.damaged[error.paper] = error
        elif not self.store.removed_since(self.revision):
            raise error

    def is_current(self, context: Context) -> bool:
        """Whether no paper that the context is from was removed in the meantime, and none at all if it is empty."""
        removed = self.store.removed_since(self.revision)
        used = {source.place.paper for source in context.sources}
        return not removed or (bool(used) and removed.isdisjoint(used))

    def completed(self, answer: Answer) -> Answer:
        """The answer, with a finding for each paper that was left out."""
        return replace(answer, findings=(*self.findings, *answer.findings))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A finding for each paper that was left out."""
        return tuple(
            Finding(kind="paper", subject=paper, message=f"a paper is left out: {error.public}")
            for paper, error in self.damaged.items()
        )

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.request.filters.papers, *self.request.papers)


def build_engine(
    store: Store, index: GraphIndex, *, models: Models, settings: Settings, count: Callable[[str], int]
) -> "QueryEngine":
    """Build the query engine of a library; `count` counts the tokens of a text."""
    from query import QueryEngine, RetrievalOptions

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
        count=count,
        decompose=settings.answer.decompose,
    )
