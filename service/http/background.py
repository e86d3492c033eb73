"""Work that goes on when the client that asked for it has left, such as an answer that a conversation stores."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Hashable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from starlette.exceptions import HTTPException

from paperscope_core.errors import PaperscopeError
from service.http.problems import ProblemError

__all__ = ["Background", "BackgroundWork"]

T = TypeVar("T")

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


@dataclass(frozen=True)
class Background:
    """The work in progress, by what it is about. For use on one event loop."""

    _works: defaultdict[Hashable, set[asyncio.Task[None]]] = field(default_factory=lambda: defaultdict(set))

    def begin(self, events: AsyncGenerator[T, None], *, about: Hashable) -> BackgroundWork[T]:
        """Begins to produce events."""
        queue = asyncio.Queue[T | None]()

        async def produce() -> None:
            async with aclosing(events):
                async for event in events:
                    queue.put_nowait(event)

        def end(task: asyncio.Task[None]) -> None:
            self._works[about].discard(task)
            if not self._works[about]:
                del self._works[about]
            queue.put_nowait(None)
            error = None if task.cancelled() else task.exception()
            # Others are reported to the client, if it is still there.
            if error is not None and not isinstance(error, (PaperscopeError, HTTPException)):
                _log.error("work in the background failed", exc_info=error)

        task = asyncio.create_task(produce())
        self._works[about].add(task)
        task.add_done_callback(end)
        return BackgroundWork(task, queue)

    def cancel(self, about: Hashable) -> None:
        """Stops all work about something."""
        for task in self._works.get(about, ()):
            task.cancel()

    async def close(self) -> None:
        """Stops all work, and waits for its end."""
        tasks = set().union(*self._works.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
