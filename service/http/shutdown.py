"""Graceful shutdown: requests and jobs in progress get some time to finish, then they are cancelled.

Both get `service.shutdown_seconds` at the same time. Within CLOSING_SECONDS more, waiting callers are told, paid model
calls finish and everything is closed; whatever still runs then ends with the process.

uvicorn would refuse connections at once, cut what runs after a fixed time, and wait for endless streams.
"""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

from service.http.problems import ProblemError

__all__ = ["CLOSING_SECONDS", "LAST_REQUESTS_SECONDS", "Shutdown", "shutdown_problem"]

CLOSING_SECONDS = 10.0
LAST_REQUESTS_SECONDS = 0.5
"""How long a server that has stopped to listen waits for requests on connections that are open."""

_log = logging.getLogger(__name__)


class Shutdown:
    """The progress of the shutdown, for use on one event loop.

    Args:
        grace_seconds: How long requests and work in the background may take.
        alone: Whether no other process accepts the connections, so that new requests are refused meanwhile.
        background: Returns the work in the background.

    Attributes:
        begun: Set when the shutdown begins: no new work is accepted, and endless streams stop.
        finishing: Whether connections end with their next response.
    """

    def __init__(
        self, *, grace_seconds: float, alone: bool, background: Callable[[], Collection["asyncio.Task[Any]"]]
    ) -> None:
        self.begun = asyncio.Event()
        self.finishing = False
        self._grace_seconds = grace_seconds
        self._alone = alone
        self._background = background
        self._requests: set[asyncio.Task[object]] = set()
        self._deadline: float | None = None
        self._expired = False
        self._timeouts: set[asyncio.Timeout] = set()

    def handle_signals(self, numbers: Collection[signal.Signals], *, again: signal.Handlers = signal.SIG_DFL) -> None:
        """Let the first of these signals begin the shutdown; `again` handles another one: by default it kills.

        Must be called in the main thread when the server has set its own handler of SIGTERM, which stops it.
        """
        loop = asyncio.get_running_loop()
        stop = signal.getsignal(signal.SIGTERM)

        def end() -> None:
            for number in numbers:
                loop.remove_signal_handler(number)
                signal.signal(number, again)
            timer = threading.Timer(self._grace_seconds + CLOSING_SECONDS, _force_exit)
            timer.daemon = True
            timer.start()
            self._ending = loop.create_task(self.end(lambda: callable(stop) and stop(signal.SIGTERM, None)))

        for number in numbers:
            loop.add_signal_handler(number, end)

    async def end(self, stop: Callable[[], object]) -> None:
        """End what is in progress; `stop` stops the server, which listens until then."""
        if not self._alone:
            self.finishing = True
            stop()
            # On the connections that are left, requests are still answered.
            await asyncio.sleep(LAST_REQUESTS_SECONDS)
        self.begun.set()
        await self.drain()
        self.cancel()
        self.finishing = True
        stop()

    async def drain(self) -> None:
        """Wait for the requests in progress and work in the background, within the grace period."""
        loop = asyncio.get_running_loop()
        self._deadline = self._deadline or loop.time() + self._grace_seconds
        requests = set(self._requests)
        while (
            work := {task for task in requests if not task.done()} | set(self._background())
        ) and loop.time() < self._deadline:
            await asyncio.wait(work, timeout=self._deadline - loop.time())

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request in progress, which the current task handles."""
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self._requests.add(task)
        try:
            yield
        finally:
            self._requests.discard(task)

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
        """Cancel the blocks that still run."""
        self._expired = True
        now = asyncio.get_running_loop().time()
        for timeout in self._timeouts:
            if not timeout.expired():
                timeout.reschedule(now)


def shutdown_problem() -> ProblemError:
    """Return the reply to a request that comes during the shutdown."""
    detail = "The service is being stopped or restarted; send it again in some seconds."
    return ProblemError(503, "ending", detail, headers={"Retry-After": "5", "Connection": "close"})


def _force_exit() -> None:
    _log.warning("something does not end; the process exits anyway")
    os._exit(1)
