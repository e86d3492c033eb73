"""Work that goes on when the client that asked for it has left, such as an answer that a conversation stores."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.exceptions import HTTPException

from graph_store.service_state import ServiceState
from paperscope_core.errors import PaperscopeError, StoreError
from service.http.problems import ProblemError

__all__ = ["Background", "BackgroundWork"]

T = TypeVar("T")

_WATCH_SECONDS = 0.5

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class BackgroundWork(Generic[T]):
    """Events that a task of their own produces."""

    task: asyncio.Task[None]
    _events: asyncio.Queue[T | None]

    async def events(self) -> AsyncGenerator[T, None]:
        """The events as they come; closing the generator does not stop the work. Raises what the work raises, and
        ProblemError if it was cancelled."""
        while (event := await self._events.get()) is not None:
            yield event
        if self.task.cancelled():
            raise ProblemError(409, "stopped", "The question was stopped before its answer was complete.")
        self.task.result()


class Background:
    """The work in progress, by what it is about. For use on one event loop.

    Args:
        state: Shared by all processes in which work can be cancelled.
    """

    def __init__(self, state: ServiceState) -> None:
        self._state = state
        self._works: defaultdict[str, set[asyncio.Task[None]]] = defaultdict(set)

    @property
    def tasks(self) -> set[asyncio.Task[None]]:
        """All work in progress."""
        return set().union(*self._works.values())

    async def begin(self, events: AsyncGenerator[T, None], *, about: str) -> BackgroundWork[T]:
        """Begins to produce events."""
        queue = asyncio.Queue[T | None]()
        # Read first, so that no later request to stop is overlooked.
        before = await self._last_stop(about)

        async def produce() -> None:
            async with aclosing(events):
                async for event in events:
                    queue.put_nowait(event)

        def end(task: asyncio.Task[None]) -> None:
            watching.cancel()
            self._works[about].discard(task)
            if not self._works[about]:
                del self._works[about]
            queue.put_nowait(None)
            error = None if task.cancelled() else task.exception()
            # Others are reported to the client, if it is still there.
            if error is not None and not isinstance(error, (PaperscopeError, HTTPException)):
                _log.error("work in the background failed", exc_info=error)

        task = asyncio.create_task(produce())
        watching = asyncio.create_task(self._watch(task, about, before=before))
        self._works[about].add(task)
        task.add_done_callback(end)
        return BackgroundWork(task, queue)

    async def cancel(self, about: str) -> None:
        """Stops all work about something, within a second also that of other processes. Raises StoreError."""
        for task in self._works.get(about, ()):
            task.cancel()
        await asyncio.to_thread(self._state.stop, about)

    async def _watch(self, task: "asyncio.Task[None]", about: str, *, before: float | None) -> None:
        """Cancels a task when another process cancels what it is about, for the last time until now at `before`."""
        while not task.done():
            await asyncio.sleep(_WATCH_SECONDS)
            last = await self._last_stop(about)
            if before is None:
                before = last
            # An old request to stop is forgotten meanwhile.
            elif last and last != before:
                task.cancel()

    async def _last_stop(self, about: str) -> float | None:
        """See `ServiceState.last_stop`; None while the state can't be read, so that nothing is cancelled."""
        with suppress(StoreError):
            return await asyncio.to_thread(self._state.last_stop, about)
        return None

    async def close(self) -> None:
        """Stops all work, and waits for its end."""
        tasks = self.tasks
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
