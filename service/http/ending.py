"""The end of the service: it is asked to end, what is under way gets some time, and what is left then is cut off.

Requests and jobs get `service.shutdown_seconds` at the same time; LAST_SECONDS more are for telling who waits, for paid
calls, and for closing all. Whatever goes on then is ended with the process.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.http.problems import ProblemError

__all__ = ["LAST_SECONDS", "Ending", "ending_problem"]

LAST_SECONDS = 10.0


class Ending:
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
                raise ending_problem() from None
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


def ending_problem() -> ProblemError:
    """What is told to who comes too late."""
    detail = "The service is being stopped or restarted; send it again in some seconds."
    return ProblemError(503, "ending", detail, headers={"Retry-After": "5", "Connection": "close"})
