"""Cancels work in a thread, extends the time limit of a slow step, and announces waits, across layers."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TypeVar

__all__ = [
    "check_cancelled",
    "extend_time_limit",
    "handle_time_requests",
    "handle_waits",
    "on_cancel",
    "run_in_thread",
    "waiting",
]

T = TypeVar("T")

_time_listener: ContextVar[Callable[[float], None] | None] = ContextVar("_time_listener", default=None)
_wait_listener: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar(
    "_wait_listener", default=nullcontext
)


class _Cancellation:
    """The callbacks of one cancellable piece of work."""

    def __init__(self) -> None:
        self.cancelled = False
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def cancel(self) -> None:
        with self._lock:
            self.cancelled = True
            for callback in self._callbacks:
                callback()

    @contextmanager
    def registered(self, callback: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            self._callbacks.append(callback)
            if self.cancelled:
                callback()
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)


_current: ContextVar[_Cancellation | None] = ContextVar("_current", default=None)


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run `work` in a thread and return its result.

    On cancellation the callbacks registered by `on_cancel` are called, `check_cancelled` raises, and `CancelledError`
    is raised here only after the thread has ended.
    """
    cancellation = _Cancellation()
    token = _current.set(cancellation)
    try:
        # The thread runs in a copy of the current context.
        task = asyncio.create_task(asyncio.to_thread(work))
    finally:
        _current.reset(token)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancellation.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise


def check_cancelled() -> None:
    """Raise `CancelledError` if the enclosing `run_in_thread` is cancelled; long computations call it often."""
    cancellation = _current.get()
    if cancellation is not None and cancellation.cancelled:
        raise asyncio.CancelledError


@contextmanager
def on_cancel(callback: Callable[[], None]) -> Iterator[None]:
    """Call `callback`, from another thread, if the enclosing `run_in_thread` is cancelled during the block.

    If it is cancelled already, `callback` is called at once. It must return quickly.
    """
    cancellation = _current.get()
    if cancellation is None:
        yield
    else:
        with cancellation.registered(callback):
            yield


def extend_time_limit(factor: float = 1.0) -> None:
    """Announce a new step that may take `factor` times the usual limit; without a listener this does nothing."""
    listener = _time_listener.get()
    if listener:
        listener(factor)


@contextmanager
def handle_time_requests(listener: Callable[[float], None]) -> Iterator[None]:
    """Call `listener` with the factor of each `extend_time_limit` within the block."""
    token = _time_listener.set(listener)
    try:
        yield
    finally:
        _time_listener.reset(token)


@contextmanager
def waiting() -> Iterator[None]:
    """Announce that the block waits for another process; without a listener this does nothing."""
    with _wait_listener.get()():
        yield


@contextmanager
def handle_waits(listener: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """Enter the context manager that `listener` returns during each `waiting` within the block."""
    token = _wait_listener.set(listener)
    try:
        yield
    finally:
        _wait_listener.reset(token)
