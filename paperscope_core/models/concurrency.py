"""Limits concurrent model calls, and lets calls finish whose callers are cancelled."""

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from paperscope_core.errors import ModelRateLimitError
from paperscope_core.models.wrapper import ModelWrapper, SendRequest
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import ModelReply, ModelRequest

__all__ = ["FinishingModel", "LimitedModel", "PerLoop"]

T = TypeVar("T")

# Successful calls per open slot before another slot opens. If slots opened as fast as they close, the server would stay
# at its limit.
_REPLIES_TO_REOPEN = 5


class PerLoop(Generic[T]):
    """One value per running event loop, created on first use and dropped once its loop is closed.

    asyncio's locks and tasks belong to one loop, but a model may be called from several loops and threads.
    """

    def __init__(self, create: Callable[[], T]) -> None:
        self._create = create
        self._values: dict[asyncio.AbstractEventLoop, T] = {}
        self._lock = threading.Lock()

    def get(self) -> T:
        """Return the running loop's value."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._values:
                self._values = {known: value for known, value in self._values.items() if not known.is_closed()}
                self._values[loop] = self._create()
            return self._values[loop]


class LimitedModel(ModelWrapper):
    """Limits concurrent calls on an event loop to `concurrency`, and to fewer while the server limits the rate.

    Each rate-limited call closes a slot, down to the last one; a series of successful calls opens one again.
    """

    def __init__(self, model: LanguageModel, *, concurrency: int) -> None:
        super().__init__(model)
        self._slots = PerLoop(lambda: _Slots(concurrency))

    async def _call(self, _request: ModelRequest, send: SendRequest, /) -> ModelReply:
        slots = self._slots.get()
        await slots.acquire()
        limited = False
        try:
            return await send()
        except ModelRateLimitError:
            limited = True
            raise
        finally:
            slots.release(limited=limited)


class _Slots:
    def __init__(self, limit: int) -> None:
        self._limit = self._open = limit
        self._free = asyncio.Semaphore(limit)
        self._successes = 0

    async def acquire(self) -> None:
        await self._free.acquire()

    def release(self, *, limited: bool) -> None:
        if limited:
            self._successes = 0
            if self._open > 1:
                self._open -= 1
                return
        else:
            self._successes += 1
            if self._successes >= _REPLIES_TO_REOPEN * self._open and self._open < self._limit:
                self._successes = 0
                self._open += 1
                self._free.release()
        self._free.release()


class FinishingModel(ModelWrapper):
    """Lets a call that was sent finish after its caller is cancelled, so that its paid reply can be cached.

    If such a call fails, the caller gets the cancellation instead of the failure, so that nothing retries the call.
    """

    async def _call(self, _request: ModelRequest, send: SendRequest, /) -> ModelReply:
        sent = asyncio.ensure_future(send())
        try:
            return await asyncio.shield(sent)
        except asyncio.CancelledError:
            await asyncio.wait({sent})
            if sent.cancelled() or sent.exception() is not None:
                raise
            return sent.result()
