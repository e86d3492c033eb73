"""Cancels work in a thread, and extends the time limit of a slow step, across the layers between."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["extend_time_limit", "handle_time_requests", "on_cancel", "run_in_thread"]


T = TypeVar("T")


class _Cancellation:
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


_current: ContextVar[_Cancellation | None] = ContextVar("_heard", default=None)


async def run_in_thread(work: Callable[[], T]) -> T:
    """What `work` returns, done in a thread. Cancelled, the work is ended where it says how (`when_stopped`), and its
    thread has ended when this raises."""
    stop = _Cancellation()
    token = _current.set(stop)
    try:
        # The thread takes the context with it.
        task = asyncio.create_task(asyncio.to_thread(work))
    finally:
        _current.reset(token)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.ask()
        await asyncio.gather(task, return_exceptions=True)
        raise


@contextmanager
def on_cancel(end: Callable[[], None]) -> Iterator[None]:
    """Let `end` be called, from another thread, if the work that the block is part of is given up; at once where it was
    already. It must be quick."""
    stop = _current.get()
    if stop is None:
        yield
        return
    stop.add(end)
    try:
        yield
    finally:
        stop.drop(end)


_listener: ContextVar[Callable[[float], None] | None] = ContextVar("_listener", default=None)


def extend_time_limit(times: float = 1.0) -> None:
    """Say that a step begins, and how many times as long as other steps it may take; nobody need be listening."""
    listener = _listener.get()
    if listener:
        listener(times)


@contextmanager
def handle_time_requests(listener: Callable[[float], None]) -> Iterator[None]:
    """Let `listener` hear what is asked for within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
