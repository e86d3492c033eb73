"""One event loop in a thread of its own, so that model clients live on one loop whoever calls."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["LoopThread"]

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for synchronous and asynchronous callers alike, also inside a running loop (a notebook)."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="paperscope-loop", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start `work`; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` to its end; Ctrl-C cancels it."""
        future = self.submit(work)
        try:
            return future.result()
        finally:
            future.cancel()

    async def iterate(self, items: AsyncIterator[T]) -> AsyncGenerator[T, None]:
        """The items of an iterator that works on this loop, for whoever awaits them on another one.

        Left before its end, the iterator is stopped.
        """
        here = asyncio.get_running_loop()
        passed: asyncio.Queue[tuple[T] | None] = asyncio.Queue()

        async def work() -> None:
            try:
                async for item in items:
                    here.call_soon_threadsafe(passed.put_nowait, (item,))
            finally:
                here.call_soon_threadsafe(passed.put_nowait, None)

        future = self.submit(work())
        try:
            while (item := await passed.get()) is not None:
                yield item[0]
            await asyncio.wrap_future(future)
        finally:
            future.cancel()

    def close(self) -> None:
        """Stop the loop; what still runs on it is cancelled."""
        if self._loop.is_closed():
            return
        self.wait(_wind_up())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _wind_up() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()
