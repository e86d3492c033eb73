"""How work in a thread is ended, past all layers between it and whoever gave it up."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["in_thread", "when_stopped"]

T = TypeVar("T")


class _Stop:
    """What is to be called when the work is given up."""

    def __init__(self) -> None:
        self._asked = False
        self._ends: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def ask(self) -> None:
        with self._lock:
            self._asked = True
            for end in self._ends:
                end()

    def add(self, end: Callable[[], None]) -> None:
        with self._lock:
            self._ends.append(end)
            if self._asked:
                end()

    def drop(self, end: Callable[[], None]) -> None:
        with self._lock:
            self._ends.remove(end)


_heard: ContextVar[_Stop | None] = ContextVar("_heard", default=None)


async def in_thread(work: Callable[[], T]) -> T:
    """What `work` returns, done in a thread. Cancelled, the work is ended where it says how (`when_stopped`), and its
    thread has ended when this raises."""
    stop = _Stop()
    token = _heard.set(stop)
    try:
        # The thread takes the context with it.
        task = asyncio.create_task(asyncio.to_thread(work))
    finally:
        _heard.reset(token)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.ask()
        await asyncio.gather(task, return_exceptions=True)
        raise


@contextmanager
def when_stopped(end: Callable[[], None]) -> Iterator[None]:
    """Let `end` be called, from another thread, if the work that the block is part of is given up; at once where it was
    already. It must be quick."""
    stop = _heard.get()
    if stop is None:
        yield
        return
    stop.add(end)
    try:
        yield
    finally:
        stop.drop(end)
