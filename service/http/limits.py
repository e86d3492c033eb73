"""Limits on what is served at a time: a fair queue and a rate limit."""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from service.http.problems import ProblemError

__all__ = ["FairQueue", "RateLimiter"]


_RECENT_WEIGHT = 0.2  # how much the latest question counts in the mean of their seconds
_MAX_RETRY_SECONDS = 600


class FairQueue:
    """Lets `at_once` questions in, and `waiting` more wait; `work` says so of something else. For use on one event
    loop; `clock` counts seconds."""

    def __init__(
        self,
        *,
        at_once: int,
        waiting: int,
        work: str = "questions are being answered",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._work = work
        self._at_once = at_once
        self._room = waiting
        self._clock = clock
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._mean_seconds = 1.0
        self.running = 0

    @property
    def waiting(self) -> int:
        """How many questions wait."""
        return sum(map(len, self._queues.values()))

    @asynccontextmanager
    async def admit(self, caller: str) -> AsyncIterator[None]:
        """Wait for the caller's turn, and hold a place throughout.

        Raises ProblemError (429, with Retry-After) where too many wait. Who is cancelled while waiting leaves the
        queue.
        """
        await self._enter(caller)
        began = self._clock()
        try:
            yield
        finally:
            self._mean_seconds += _RECENT_WEIGHT * (self._clock() - began - self._mean_seconds)
            self._leave()

    async def _enter(self, caller: str) -> None:
        if self.running < self._at_once:
            self.running += 1
            return
        if self.waiting >= self._room:
            self._make_room(caller)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(caller, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._leave()  # it was its turn in the very moment that it was given up
            else:
                self._forget(caller, turn)
            raise

    def _make_room(self, caller: str) -> None:
        """Send the newest question of the caller with the most away, if that is fairer than to refuse this one."""
        most = max(self._queues, key=lambda name: len(self._queues[name]), default=caller)
        if len(self._queues.get(most, ())) <= len(self._queues.get(caller, ())) + 1:
            raise self._too_many()
        turn = self._queues[most][-1]
        self._forget(most, turn)
        if not turn.done():
            turn.set_exception(self._too_many())

    def _leave(self) -> None:
        """Give the place to who is next, the callers in turn."""
        while self._queues:
            caller = next(iter(self._queues))
            turn = self._queues[caller][0]
            self._forget(caller, turn)
            if caller in self._queues:
                self._queues.move_to_end(caller)
            # Who was cancelled in this very moment stands in the queue, and is done.
            if not turn.done():
                turn.set_result(None)
                return
        self.running -= 1

    def _forget(self, caller: str, turn: "asyncio.Future[None]") -> None:
        queue = self._queues.get(caller, deque())
        if turn in queue:
            queue.remove(turn)
        if not queue:
            self._queues.pop(caller, None)

    def _too_many(self) -> ProblemError:
        seconds = self._mean_seconds * (self.waiting + 1) / self._at_once
        detail = (
            f"{self.running} {self._work} and {self.waiting} more wait, which is as many as this "
            "service takes; come back after the seconds of Retry-After."
        )
        retry = min(_MAX_RETRY_SECONDS, max(1, math.ceil(seconds)))
        return ProblemError(429, f"too-many-{self._work.split()[0]}", detail, headers={"Retry-After": str(retry)})


_MAX_CALLERS = 10_000


class RateLimiter:
    """A token bucket for each caller: a minute's requests may come at once, and are then made up for.

    Of more than 10,000 callers, those are forgotten who have been quiet longest. `clock` counts seconds.
    """

    def __init__(self, *, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Count a request. Raises ProblemError (429, with Retry-After) where the caller sent too many; 0 a minute
        means that there is no limit."""
        if not self._size:
            return
        now, pace = self._clock(), self._size / 60
        left, before = self._buckets.pop(caller, (float(self._size), now))
        left = min(float(self._size), left + (now - before) * pace)
        allowed = left >= 1
        self._buckets[caller] = (left - allowed, now)
        if len(self._buckets) > _MAX_CALLERS:
            self._buckets.popitem(last=False)
        if not allowed:
            retry = max(1, math.ceil((1 - left) / pace))
            detail = f"More than {self._size} requests a minute; come back after the seconds of Retry-After."
            raise ProblemError(429, "too-many-requests", detail, headers={"Retry-After": str(retry)})
