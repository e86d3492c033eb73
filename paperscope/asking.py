"""Answers questions over a library whose papers may change meanwhile."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from graph_store import Store
from graph_store.reading import find_entry
from paperscope_core.types import Answer, AnswerEvent, Context, Filters, TextEvent, Turn
from query import QueryEngine

__all__ = ["Asking"]


T = TypeVar("T")


class Asking:
    """Asks an engine. A question that has read of a paper which is then removed is asked again of those that are left:
    paid calls are kept, so that only what has changed is paid for."""

    def __init__(self, store: Store, engine: QueryEngine) -> None:
        self._store = store
        self._engine = engine

    async def ask(
        self,
        question: str,
        filters: Filters,
        papers: Sequence[str],
        history: Sequence[Turn],
        on_stage: Callable[[str], None],
    ) -> Answer:
        """See `Library.ask`."""
        filters = await asyncio.to_thread(self._restricted, filters, papers)
        return await self._steady(
            lambda: self._engine.ask(question, filters=filters, history=history, on_stage=on_stage)
        )

    async def stream(
        self, question: str, filters: Filters, papers: Sequence[str], history: Sequence[Turn]
    ) -> AsyncGenerator[AnswerEvent, None]:
        """See `Library.stream`."""
        filters = await asyncio.to_thread(self._restricted, filters, papers)
        anew, done = False, False
        while not done:
            revision = self._store.revision
            try:
                async with aclosing(self._engine.stream(question, filters=filters, history=history)) as events:
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
                # What was told of the answer so far is void.
                anew = True

    async def retrieve(self, question: str, filters: Filters, papers: Sequence[str]) -> Context:
        """See `Library.retrieve`."""
        filters = await asyncio.to_thread(self._restricted, filters, papers)
        return (await self._steady(lambda: self._engine.retrieve(question, filters=filters))).context

    def _restricted(self, filters: Filters, papers: Sequence[str]) -> Filters:
        entries = self._store.entries()
        named = (*filters.papers, *papers)
        return replace(filters, papers=tuple(find_entry(entries, paper).id for paper in named))

    async def _steady(self, work: Callable[[], Awaitable[T]]) -> T:
        while True:
            revision = self._store.revision
            try:
                return await work()
            except KeyError:
                if not self._removed_since(revision):
                    raise

    def _removed_since(self, revision: int) -> bool:
        return any(change.action == "removed" for change in self._store.changes_since(revision))
