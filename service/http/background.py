"""Questions that are being answered, some of which go on when the client that asked has left."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from typing import Any

from starlette.exceptions import HTTPException

from graph_store.service_state import ServiceState
from paperscope_core.errors import PaperscopeError, StoreError
from paperscope_core.types import Answer, AnswerEvent, DoneEvent
from service.http.problems import ProblemError

__all__ = ["Background", "BackgroundWork", "Tell"]

_WATCH_SECONDS = 0.5

_log = logging.getLogger(__name__)

Tell = Callable[[AnswerEvent], None]
"""Passes an event on, from any thread."""


class BackgroundWork:
    """A question that is being answered.

    Attributes:
        task: Ends with the answer.
    """

    def __init__(self, answering: Callable[[Tell], Coroutine[Any, Any, Answer]], *, goes_on: bool) -> None:
        self._goes_on = goes_on
        self._begun = asyncio.Event()
        self._events: asyncio.Queue[AnswerEvent | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(event: AnswerEvent) -> None:
            loop.call_soon_threadsafe(self._put, event)

        self.task = asyncio.create_task(answering(tell))
        self.task.add_done_callback(lambda _: self._put(None))

    def _put(self, event: AnswerEvent | None) -> None:
        self._begun.set()
        self._events.put_nowait(event)

    async def begun(self) -> None:
        """Wait for the first event. Raises what the work raises before."""
        await self._begun.wait()
        if self.task.done():
            self._result()

    async def answer(self) -> Answer:
        """Return the answer. Raises what the work raises, and ProblemError if it was cancelled."""
        await asyncio.wait({self.task})
        return self._result()

    async def events(self) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events as they come, the answer last. Raises what `answer` raises."""
        while (event := await self._events.get()) is not None:
            yield event
        yield DoneEvent(answer=self._result())

    def leave(self) -> None:
        """Stop the work, unless it goes on without its client."""
        if not self._goes_on:
            self.task.cancel()

    def _result(self) -> Answer:
        if self.task.cancelled():
            raise ProblemError(409, "stopped", "The question was stopped before its answer was complete.")
        return self.task.result()


class Background:
    """The questions that are being answered. For use on one event loop.

    Args:
        state: Shared by all processes in which work can be cancelled.
    """

    def __init__(self, state: ServiceState) -> None:
        self._state = state
        self._works: defaultdict[str, set[asyncio.Task[Answer]]] = defaultdict(set)

    @property
    def tasks(self) -> set[asyncio.Task[Answer]]:
        """All work in progress."""
        return set().union(*self._works.values())

    async def begin(
        self, answering: Callable[[Tell], Coroutine[Any, Any, Answer]], *, about: str = ""
    ) -> BackgroundWork:
        """Begin work. If it is `about` something, it goes on without its client, until `cancel` stops it."""
        # Read first, so that no later request to stop is overlooked.
        before = await self._last_stop(about) if about else None
        work = BackgroundWork(answering, goes_on=bool(about))
        watching = asyncio.create_task(self._watch(work.task, about, before=before)) if about else None

        def end(task: asyncio.Task[Answer]) -> None:
            if watching is not None:
                watching.cancel()
            self._works[about].discard(task)
            if not self._works[about]:
                del self._works[about]
            error = None if task.cancelled() else task.exception()
            # Others are reported to the client, if it is still there.
            if error is not None and not isinstance(error, (PaperscopeError, HTTPException)):
                _log.error("a question failed", exc_info=error)

        self._works[about].add(work.task)
        work.task.add_done_callback(end)
        return work

    async def cancel(self, about: str) -> None:
        """Stop all work about something, within a second also that of other processes. Raises StoreError."""
        for task in self._works.get(about, ()):
            task.cancel()
        await asyncio.to_thread(self._state.stop, about)

    async def _watch(self, task: "asyncio.Task[Answer]", about: str, *, before: float | None) -> None:
        """Cancel a task when another process cancels what it is about, for the last time until now at `before`."""
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
        """Stop all work, and waits for its end."""
        tasks = self.tasks
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
