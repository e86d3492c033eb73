"""Turns of libraries: a library that uses the processor much lets one go first that uses it little.

Python runs one thread at a time. Without turns, ten threads that work for one library would leave a thread of another
library an eleventh of the processor.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from paperscope_core.cancellation import handle_waits

__all__ = ["TurnExecutor"]

P = ParamSpec("P")
T = TypeVar("T")

# What a library has used counts half after so many seconds.
_HALF_LIFE = 10.0
# A question or job whose last step ended so recently is about to begin another one.
_PAUSE = 0.02
# A library that has used less makes no other one wait.
_LITTLE = 0.001
# The longest wait of a step. It is bounded because a step of the other library may last for minutes.
_PATIENCE = 0.25


@dataclass
class _Share:
    """When each running step of one library began, when the last one ended, and the seconds used until then."""

    began: list[float] = field(default_factory=list)
    ended: float = 0.0
    used: float = 0.0

    def is_active(self, now: float) -> bool:
        return bool(self.began) or now < self.ended + _PAUSE

    def seconds_used(self, now: float) -> float:
        return float(self.used * 0.5 ** ((now - self.ended) / _HALF_LIFE)) + sum(now - began for began in self.began)


class _Turns:
    """Lets steps begin, of libraries that have used less first. All methods may be called from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shares: dict[object, _Share] = {}
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, library: object) -> Iterator[None]:
        """Wait until it is the library's turn, though not long, and count the time of the block.

        What the block spends in `waiting` is not counted, and afterwards it waits for its turn again.
        """

        with self._changed:
            share = self._shares.setdefault(library, _Share())
        began = self._begin(share)

        @contextmanager
        def pause() -> Iterator[None]:
            nonlocal began
            self._end(share, began)
            try:
                yield
            finally:
                began = self._begin(share)

        try:
            with handle_waits(pause):
                yield
        finally:
            self._end(share, began)

    def _begin(self, share: _Share) -> float:
        """Begin a step when it may begin; return the time."""
        with self._changed:
            end = self._clock() + _PATIENCE
            while (left := end - self._clock()) > 0 and not self._may_begin(share):
                self._changed.wait(min(left, _PAUSE))
            share.began.append(now := self._clock())
            return now

    def _end(self, share: _Share, began: float) -> None:
        with self._changed:
            now = self._clock()
            used = share.seconds_used(now)
            share.began.remove(began)
            share.used, share.ended = used - sum(now - other for other in share.began), now
            self._changed.notify_all()

    def forget(self, library: object) -> None:
        """Forget a library that has ended."""
        with self._changed:
            self._shares.pop(library, None)

    def _may_begin(self, share: _Share) -> bool:
        now = self._clock()
        others = [other for other in self._shares.values() if other is not share and other.seconds_used(now) > _LITTLE]
        if not others:
            return True
        used = share.seconds_used(now)
        first = all(not other.is_active(now) or other.seconds_used(now) > used for other in others)
        return first and not share.began


_TURNS = _Turns()


class TurnExecutor(ThreadPoolExecutor):
    """The threads of one library: each step that they are given waits for the library's turn in this process."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """See `Executor.submit`."""
        return super().submit(self._in_turn, fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # the base's
        """See `Executor.shutdown`."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        _TURNS.forget(self)

    def _in_turn(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        with _TURNS.turn(self):
            return fn(*args, **kwargs)
