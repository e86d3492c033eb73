"""Graceful shutdown: requests get some time to finish."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.http.problems import ProblemError

__all__ = ["CLOSING_SECONDS", "Shutdown", "shutdown_problem"]


CLOSING_SECONDS = 10.0


class Shutdown:
    """How far the end of the service is. For use on one event loop.

    `begun` is set when it is asked to end: nothing new is taken on, and streams that could go on for ever stop.
    """

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self._over = False
        self._limits: set[asyncio.Timeout] = set()

    @asynccontextmanager
    async def limit(self, end: float) -> AsyncIterator[None]:
        """Like `asyncio.timeout_at`; raises ProblemError (503) where the service ends before that time."""
        limit = asyncio.timeout_at(0 if self._over else end)
        self._limits.add(limit)
        try:
            async with limit:
                yield
        except TimeoutError:
            if self._over and limit.expired():
                raise shutdown_problem() from None
            raise
        finally:
            self._limits.discard(limit)

    def cut(self) -> None:
        """End what still runs under a limit."""
        self._over = True
        now = asyncio.get_running_loop().time()
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(now)


def shutdown_problem() -> ProblemError:
    """What is told to who comes too late."""
    detail = "The service is being stopped or restarted; send it again in some seconds."
    return ProblemError(503, "ending", detail, headers={"Retry-After": "5", "Connection": "close"})
