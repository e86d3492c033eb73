"""An event loop in a separate thread, shared by synchronous and asynchronous callers."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from paperscope.turns import TurnExecutor
from paperscope_core.errors import StoreError

__all__ = ["EventLoopThread"]

T = TypeVar("T")


class EventLoopThread:
    """Runs coroutines for synchronous and asynchronous callers, also inside a running loop such as a notebook's.

    Once it is closed, running and later work raises StoreError.

    anyio's `BlockingPortal` can't replace it: anyio cancels a task again at each `await` of its cleanup, which would
    interrupt code that finishes paid model calls and ends child processes.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(TurnExecutor(thread_name_prefix="paperscope"))
        self._running: set[asyncio.Task[Any]] = set()
        self._open = True
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name="paperscope-loop", daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result. Ctrl-C cancels it.

        Raises:
            StoreError: The loop is closed.
        """
        future, cancel = self._start(work)
        try:
            return future.result()
        finally:
            cancel()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine for a caller on any loop. If the caller is cancelled, the work has ended when this raises.

        Raises:
            StoreError: The loop is closed.
        """
        future, cancel = self._start(work)
        ended = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            cancel()
            await asyncio.gather(ended, return_exceptions=True)
            raise

    async def iterate(
        self, work: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]]
    ) -> AsyncGenerator[T, None]:
        """Run a coroutine for a caller on any loop, and yield each item that it passes to its argument.

        If the caller stops early, the work is cancelled.

        Raises:
            StoreError: The loop is closed.
        """
        caller = asyncio.get_running_loop()
        queue: asyncio.Queue[T | None] = asyncio.Queue()

        def put(item: T | None) -> None:
            # The caller's loop may be closed.
            with suppress(RuntimeError):
                caller.call_soon_threadsafe(queue.put_nowait, item)

        future, cancel = self._start(work(put))
        future.add_done_callback(lambda _: put(None))
        try:
            while (item := await queue.get()) is not None:
                yield item
            await asyncio.wrap_future(future)
        finally:
            cancel()

    def close(self, last: Callable[[], Awaitable[None]] | None = None) -> None:
        """Cancel all running work, then run `last`, and stop the loop."""
        with self._lock:
            if not self._open:
                return
            self._open = False
        asyncio.run_coroutine_threadsafe(self._shut_down(last), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _start(self, work: Coroutine[Any, Any, T]) -> "tuple[Future[T], Callable[[], None]]":
        """Start a coroutine; returns its future, and a function that cancels it from any thread."""
        future: Future[T] = Future()
        # Mark the future as running, so that cancelling affects the task only, and its end is not reported too early.
        future.set_running_or_notify_cancel()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(self._loop.create_task(work))
            self._running.add(tasks[0])
            tasks[0].add_done_callback(lambda task: self._report(task, future))

        def cancel_task() -> None:
            for task in tasks:
                task.cancel()

        def cancel() -> None:
            with self._lock:
                if self._open and not future.done():
                    self._loop.call_soon_threadsafe(cancel_task)

        with self._lock:
            if not self._open:
                work.close()
                raise StoreError("the library is closed; open it again")
            self._loop.call_soon_threadsafe(begin)
        return future, cancel

    def _report(self, task: "asyncio.Task[T]", future: "Future[T]") -> None:
        self._running.discard(task)
        if task.cancelled():
            future.set_exception(StoreError("the library was closed before this was done; open it again"))
        elif error := task.exception():
            future.set_exception(error)
        else:
            future.set_result(task.result())

    async def _shut_down(self, last: Callable[[], Awaitable[None]] | None) -> None:
        await _cancel(set(self._running))
        if last is not None:
            await last()
        await _cancel(asyncio.all_tasks() - {asyncio.current_task()})
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


async def _cancel(tasks: "set[asyncio.Task[Any]]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
