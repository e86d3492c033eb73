"""Graceful shutdown: requests and jobs in progress get some time to finish, then they are cancelled.

Both get `service.shutdown_seconds` at the same time. Within CLOSING_SECONDS more, waiting callers are told, paid model
calls finish and everything is closed; whatever still runs then ends with the process.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.http.problems import ProblemError

__all__ = ["CLOSING_SECONDS", "Shutdown", "shutdown_problem"]

CLOSING_SECONDS = 10.0


class Shutdown:
    """The progress of the shutdown, for use on one event loop.

    Attributes:
        begun: Set when the shutdown begins: no new work is accepted, and endless streams stop.
        finishing: Whether other processes accept the connections, so that those here end with their next response.
    """

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.finishing = False
        self._expired = False
        self._timeouts: set[asyncio.Timeout] = set()

    @asynccontextmanager
    async def timeout_at(self, deadline: float) -> AsyncIterator[None]:
        """Like `asyncio.timeout_at`, but raises ProblemError (503) if the shutdown cancels the block earlier."""
        timeout = asyncio.timeout_at(0 if self._expired else deadline)
        self._timeouts.add(timeout)
        try:
            async with timeout:
                yield
        except TimeoutError:
            if self._expired and timeout.expired():
                raise shutdown_problem() from None
            raise
        finally:
            self._timeouts.discard(timeout)

    def cancel(self) -> None:
        """Cancels the blocks that still run."""
        self._expired = True
        now = asyncio.get_running_loop().time()
        for timeout in self._timeouts:
            if not timeout.expired():
                timeout.reschedule(now)


def shutdown_problem() -> ProblemError:
    """The reply to a request that comes during the shutdown."""
    detail = "The service is being stopped or restarted; send it again in some seconds."
    return ProblemError(503, "ending", detail, headers={"Retry-After": "5", "Connection": "close"})
