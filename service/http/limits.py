"""Limits on callers: a fair queue for work that runs a few at a time, requests of a key at once, the rate of requests,
the size of bodies."""

import asyncio
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from graph_store.service_state import ServiceState
from service.http.problems import ProblemError

__all__ = ["CROWDED_RETRY_SECONDS", "ConcurrencyLimit", "FairQueue", "RateLimiter", "limit_body"]

CROWDED_RETRY_SECONDS = 5
"""When a client may come back that was refused because too many requests run."""

# A tenth of the connections that a process takes.
_MOST_AT_ONCE = 64

# Weight of the latest duration in their exponential moving average.
_RECENT_WEIGHT = 0.2
# A longer estimate would be a guess.
_MAX_RETRY_SECONDS = 600


class FairQueue:
    """Runs `concurrency` pieces of work at a time, and takes waiting ones from their callers in turn (round robin).

    A caller with many entries thus does not delay one with few. As many more run for callers of whom nothing else runs,
    so that they need not wait for the work of others to end. If the queue is full, the newest entry of the caller with
    most entries is refused in favour of a caller with fewer. For use on one event loop.

    Args:
        work: What is counted, for messages.
        on_change: Called with the numbers of running and of waiting entries whenever they change.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        max_waiting: int,
        of_one: int | None = None,
        work: str = "questions are being answered",
        on_change: Callable[[int, int], None] = lambda _running, _waiting: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._work = work
        self._concurrency = concurrency
        self._of_one = of_one or concurrency
        self._max_waiting = max_waiting
        self._on_change = on_change
        self._clock = clock
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        # How much of each caller's work runs.
        self._running: Counter[str] = Counter()
        self._mean_seconds = 1.0

    @property
    def running(self) -> int:
        """The number of running entries."""
        return self._running.total()

    @property
    def waiting(self) -> int:
        """The number of waiting entries."""
        return sum(map(len, self._queues.values()))

    @asynccontextmanager
    async def slot(self, caller: str) -> AsyncIterator[None]:
        """Wait for the caller's turn, and occupy a slot within the block.

        Raises ProblemError (429, with Retry-After) if too many wait. A cancelled waiter leaves the queue.
        """
        try:
            await self._acquire(caller)
        finally:
            self._report()
        began = self._clock()
        try:
            yield
        finally:
            self._mean_seconds += _RECENT_WEIGHT * (self._clock() - began - self._mean_seconds)
            self._release(caller)
            self._report()

    def _report(self) -> None:
        self._on_change(self.running, self.waiting)

    async def _acquire(self, caller: str) -> None:
        if self._has_slot(caller):
            self._running[caller] += 1
            return
        if self.waiting >= self._max_waiting:
            self._make_room(caller)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(caller, deque()).append(turn)
        self._report()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._release(caller)  # cancelled just as its turn came
            else:
                self._remove(caller, turn)
            raise

    def _make_room(self, caller: str) -> None:
        """Refuse the newest entry of the caller with most entries, or this one if that is not fairer."""
        most = max(self._queues, key=lambda name: len(self._queues[name]), default=caller)
        if len(self._queues.get(most, ())) <= len(self._queues.get(caller, ())) + 1:
            raise self._too_many()
        turn = self._queues[most][-1]
        self._remove(most, turn)
        if not turn.done():
            turn.set_exception(self._too_many())

    def _has_slot(self, caller: str) -> bool:
        own = self._running[caller]
        return own < self._of_one and self.running < self._concurrency * (1 if own else 2)

    def _release(self, caller: str) -> None:
        """Pass the slot to the next caller that may have one."""
        self._running[caller] -= 1
        self._running += Counter()  # drops callers without work
        for name in list(self._queues):
            # Entries that were just cancelled are still queued, but done.
            while (queue := self._queues.get(name)) and self._has_slot(name):
                turn = queue[0]
                self._remove(name, turn)
                if turn.done():
                    continue
                if name in self._queues:
                    self._queues.move_to_end(name)
                self._running[name] += 1
                turn.set_result(None)
                return

    def _remove(self, caller: str, turn: "asyncio.Future[None]") -> None:
        queue = self._queues.get(caller, deque())
        if turn in queue:
            queue.remove(turn)
        if not queue:
            self._queues.pop(caller, None)

    def _too_many(self) -> ProblemError:
        seconds = self._mean_seconds * (self.waiting + 1) / self._concurrency
        detail = (
            f"{self.running} {self._work} and {self.waiting} more wait, which is as many as this "
            "service takes; come back after the seconds of Retry-After."
        )
        retry = min(_MAX_RETRY_SECONDS, max(1, math.ceil(seconds)))
        return ProblemError(429, f"too-many-{self._work.split()[0]}", detail, headers={"Retry-After": str(retry)})


class ConcurrencyLimit:
    """Limits how many requests of a key run at once in this process, event streams included."""

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()

    @contextmanager
    def request(self, key: str) -> Iterator[None]:
        """Count a request while it runs. Raises ProblemError (429) if the key has too many."""
        if self._running[key] >= _MOST_AT_ONCE:
            detail = f"This key has {_MOST_AT_ONCE} requests in progress; end some, event streams included."
            headers = {"Retry-After": str(CROWDED_RETRY_SECONDS)}
            raise ProblemError(429, "too-many-requests-at-once", detail, headers=headers)
        self._running[key] += 1
        try:
            yield
        finally:
            self._running[key] -= 1
            self._running += Counter()


class RateLimiter:
    """A token bucket per caller: the requests of a minute may come at once, and the bucket then refills evenly.

    Args:
        state: Where the buckets are; all processes that share it have them in common.
        per_minute: The maximum number of requests per caller and minute; 0 is no limit.
    """

    def __init__(self, state: ServiceState, *, per_minute: int) -> None:
        self._state = state
        self._per_minute = per_minute

    async def take(self, caller: str) -> None:
        """Count a request. Raises StoreError, and ProblemError (429, with Retry-After) if the caller has sent too
        many."""
        if not self._per_minute:
            return
        wait = await asyncio.to_thread(self._state.take, caller, per_minute=self._per_minute)
        if wait > 0:
            retry = max(1, math.ceil(wait))
            detail = f"More than {self._per_minute} requests a minute; come back after the seconds of Retry-After."
            raise ProblemError(429, "too-many-requests", detail, headers={"Retry-After": str(retry)})


def limit_body(scope: Scope, receive: Receive, *, max_bytes: int, overhead: int = 0) -> Receive:
    """Return a `receive` that raises ProblemError (413) for a larger body, at once if its Content-Length says so.

    Args:
        overhead: The bytes that the body's format may add.
    """
    # The server has checked that it is a number.
    declared = int(Headers(scope=scope).get("content-length", "0"))
    received = 0

    async def limited() -> Message:
        nonlocal received
        if declared <= max_bytes + overhead:
            message = await receive()
            received += len(message.get("body", b""))
            if received <= max_bytes + overhead:
                return message
        # The rest of the body isn't read.
        detail = f"The body is over the limit of {max_bytes / 1e6:g} MB."
        raise ProblemError(413, "too-large", detail, headers={"Connection": "close"})

    return limited
