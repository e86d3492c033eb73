"""How many requests a minute one caller may send."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from service.http.problems import ProblemError

__all__ = ["Rates"]

_MOST_CALLERS = 10_000


class Rates:
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
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        if not allowed:
            retry = max(1, math.ceil((1 - left) / pace))
            detail = f"More than {self._size} requests a minute; come back after the seconds of Retry-After."
            raise ProblemError(429, "too-many-requests", detail, headers={"Retry-After": str(retry)})
