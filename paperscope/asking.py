"""Answers questions on a library whose papers may change in the meantime."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from paperscope.table_filling import TableFiller
from paperscope_core.errors import NotFoundError, StoreDamagedError, StoreError
from paperscope_core.models import CachedEmbedder, Models
from paperscope_core.models.cache import MemoryVectorCache
from paperscope_core.paper_lookup import find_entries, is_tag
from paperscope_core.protocols import GraphIndex, PageImages
from paperscope_core.settings import Settings
from paperscope_core.types import Answer, AskRequest, Context, Filters, Finding, TextEvent, ToolCall, ToolResult
from query import Progress, QueryEngine
from query.literature import EachPaper, RowFiller

__all__ = ["Asker", "build_asker"]

T = TypeVar("T", bound=Answer | Context)

# Vectors of sentences and questions that an open library keeps in memory: 12 MB at 384 dimensions, plus the texts.
_CACHED_VECTORS = 8192


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a query engine.

    If a paper that a question uses is removed in the meantime, or is damaged, the question is asked again of the
    remaining papers. Model calls are cached, so that only changed calls are paid for again.

    Attributes:
        tables: Fills literature tables with the same models.
        papers: Asks each paper.
    """

    store: Store
    engine: QueryEngine
    tables: TableFiller
    papers: EachPaper

    async def ask(
        self,
        request: AskRequest,
        *,
        on_stage: Callable[[str], None],
        on_text: Callable[[TextEvent], None] | None = None,
    ) -> Answer:
        """Answer a question. See `Library.ask`, and `Progress` for the callbacks."""
        progress = Progress(on_stage, on_text)
        work = self.papers.ask if request.each_paper else self.engine.ask
        return await self._repeat(request, lambda asked: work(asked, progress))

    async def retrieve(self, request: AskRequest) -> Context:
        """Retrieve a context. See `Library.retrieve`."""
        return await self._repeat(request, self.engine.retrieve)

    async def look_up(self, call: ToolCall) -> ToolResult:
        """Run a reading tool. See `Library.look_up`."""
        while True:
            revision = self.store.revision
            try:
                filters, untagged = await asyncio.to_thread(self._within_tags, call)
                with self.store.pinned(revision):
                    found = await self.engine.reading_tools(filters).look_up(untagged)
                return replace(found, call=call)
            except NotFoundError:
                # Read again what is left after a removal.
                if not self.store.removed_since(revision):
                    raise

    def _within_tags(self, call: ToolCall) -> tuple[Filters, ToolCall]:
        """Return the papers of the tags that a call names in place of a paper, or among the words of a list of papers,
        and the call without them."""
        words = call.argument.split() if call.tool == "papers" else []
        names = [word for word in (call.paper, *words) if is_tag(word)]
        if not names:
            return Filters(), call
        tagged = find_entries(self.store.entries(), names, self.store.tags.all)
        rest = " ".join(word for word in words if not is_tag(word)) if words else call.argument
        paper = "" if is_tag(call.paper) else call.paper
        return Filters(papers=tuple(entry.id for entry in tagged)), replace(call, paper=paper, argument=rest)

    async def _repeat(self, request: AskRequest, work: Callable[[AskRequest], Awaitable[T]]) -> T:
        """Return the result of the first attempt that ends on papers that are still there, with findings on those left
        out."""
        damaged: dict[str, StoreDamagedError] = {}
        while True:
            revision, asked = await asyncio.to_thread(self._resolved, request, damaged)
            try:
                with self.store.pinned(revision):
                    result = await work(asked)
            except StoreDamagedError as error:
                if not all(map(is_tag, request.filters.papers)) or error.paper in damaged:
                    raise
                damaged[error.paper] = error
            except NotFoundError:
                if not self.store.removed_since(revision):
                    raise
            else:
                context = result if isinstance(result, Context) else result.context
                if await asyncio.to_thread(self._is_current, context, revision):
                    return replace(result, findings=(*map(_left_out, damaged.values()), *result.findings))

    def _resolved(self, request: AskRequest, damaged: dict[str, StoreDamagedError]) -> tuple[int, AskRequest]:
        """Return the revision of an attempt, and the request with the ids of its papers. Raises UnknownPaperError."""
        revision, entries = self.store.revision, self.store.entries()
        named = request.filters.papers
        asked = find_entries(entries, named, self.store.tags.all) if named or not damaged else entries
        papers = tuple(entry.id for entry in asked if entry.id not in damaged)
        return revision, replace(request, filters=replace(request.filters, papers=papers))

    def _is_current(self, context: Context, revision: int) -> bool:
        """Return whether no paper that the context is from was removed in the meantime, and none at all if it is
        empty."""
        removed = self.store.removed_since(revision)
        used = {source.place.paper for source in context.sources}
        return not removed or (bool(used) and removed.isdisjoint(used))


@dataclass(frozen=True, slots=True)
class _StoredIfPossible:
    """A `VectorCache` in a library, in which nothing is stored if it can't be written: an answer needs no room."""

    store: Store

    def get_vectors(self, embedder: str, texts: Sequence[str]) -> Mapping[str, NDArray[float32]]:
        return self.store.get_vectors(embedder, texts)

    def put_vectors(self, embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        with suppress(StoreError):
            self.store.put_vectors(embedder, vectors)


def _left_out(error: StoreDamagedError) -> Finding:
    return Finding(kind="paper", subject=error.paper, message=f"a paper is left out: {error.public}")


def build_asker(
    store: Store,
    index: GraphIndex,
    *,
    models: Models,
    settings: Settings,
    count: Callable[[str], int],
    page_image: PageImages,
) -> Asker:
    """Build what answers the questions of a library.

    Args:
        count: Counts the tokens of a text.
        page_image: Renders the pages that are read as images.
    """
    in_memory = MemoryVectorCache(store, size=_CACHED_VECTORS)
    engine = QueryEngine(
        store,
        index,
        CachedEmbedder(models.embedder, in_memory),
        answer_model=models.answer,
        vision_model=models.vision,
        reranker=models.reranker,
        settings=settings.retrieval,
        count=count,
        answering=settings.answer,
        page_image=page_image,
        # Sentences are stored, as other questions quote them, too.
        sentence_embedder=CachedEmbedder(CachedEmbedder(models.embedder, _StoredIfPossible(store)), in_memory),
    )
    rows = RowFiller(
        store,
        engine,
        models.answer,
        models.vision,
        retrieval=settings.retrieval,
        answering=settings.answer,
        count=count,
        page_image=page_image,
    )
    tables = TableFiller(store=store, rows=rows, has_model=models.answer is not None)
    return Asker(store, engine, tables, EachPaper(store, engine, rows))
