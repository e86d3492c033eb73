"""Calls that nobody waits for any more: what is sent is kept, what still waits for its turn is not sent."""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["SharedCall", "in_line"]

T = TypeVar("T")


@dataclass
class _Standing:
    """How many wait for a call, and whether it waits for its turn itself."""

    callers: int = 0
    in_line: bool = False


_current: ContextVar[_Standing | None] = ContextVar("_current", default=None)


class SharedCall(Generic[T]):
    """A call in a task of its own, which several callers may wait for."""

    def __init__(self, call: Awaitable[T]) -> None:
        self._standing = _Standing()
        token = _current.set(self._standing)
        try:
            # The task takes the context with it.
            self.task = asyncio.ensure_future(_awaited(call))
        finally:
            _current.reset(token)

    async def join(self) -> T:
        """What the call gives. It goes on without this caller, and without any other if it is sent by then."""
        self._standing.callers += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._standing.callers -= 1
            if self._standing.callers == 0 and self._standing.in_line:
                self.task.cancel()

    @property
    def given_up(self) -> bool:
        """Whether it won't give anything."""
        return self.task.cancelling() > 0


@contextmanager
def in_line() -> Iterator[None]:
    """Round the wait for a turn to send the call that is being made."""
    standing = _current.get()
    if standing is None:
        yield
        return
    if standing.callers == 0:
        raise asyncio.CancelledError
    standing.in_line = True
    try:
        yield
    finally:
        standing.in_line = False


async def _awaited(call: Awaitable[T]) -> T:
    return await call
