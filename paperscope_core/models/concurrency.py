"""How many model calls run at once, and what becomes of a call whose caller is cancelled."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from paperscope_core.errors import ModelRateLimitError
from paperscope_core.models.wrapper import streamed
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import ModelReply, ModelRequest

__all__ = ["FinishingModel", "LimitedModel", "PerLoop"]


T = TypeVar("T")


class PerLoop(Generic[T]):
    """One value for each running event loop, made when first asked for and dropped once its loop is closed."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: dict[asyncio.AbstractEventLoop, T] = {}
        self._lock = threading.Lock()

    def get(self) -> T:
        """The running loop's value."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._values:
                self._values = {known: value for known, value in self._values.items() if not known.is_closed()}
                self._values[loop] = self._make()
            return self._values[loop]


_PATIENCE = 5


class LimitedModel:
    """At most `concurrency` calls are under way at once on an event loop, and fewer while the server is at its limit.

    Each call that the server turns down for its rate takes a slot away, down to the last one; five replies in a row for
    each slot give one back.
    """

    def __init__(self, model: LanguageModel, *, concurrency: int) -> None:
        self._model = model
        self._slots = PerLoop(lambda: _Slots(concurrency))

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Wait for a slot, then ask."""
        return await self._in_slot(lambda: self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Wait for a slot, then ask; see `StreamingModel`."""
        return await self._in_slot(lambda: streamed(self._model, request, on_text))

    async def _in_slot(self, call: Callable[[], Awaitable[ModelReply]]) -> ModelReply:
        slots = self._slots.get()
        await slots.take()
        limited = False
        try:
            return await call()
        except ModelRateLimitError:
            limited = True
            raise
        finally:
            slots.give_back(limited=limited)


class _Slots:
    def __init__(self, most: int) -> None:
        self._most = self._open = most
        self._free = asyncio.Semaphore(most)
        self._in_a_row = 0

    async def take(self) -> None:
        await self._free.acquire()

    def give_back(self, *, limited: bool) -> None:
        if limited:
            self._in_a_row = 0
            if self._open > 1:
                self._open -= 1
                return
        else:
            self._in_a_row += 1
            if self._in_a_row >= _PATIENCE * self._open and self._open < self._most:
                self._in_a_row = 0
                self._open += 1
                self._free.release()
        self._free.release()


class FinishingModel:
    """Lets no cancellation through to a call under way: its reply comes, so that it can be kept.

    Where the call fails then, it ends as cancelled, so that nobody tries it again.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The model's reply."""
        return await _finished(self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The model's reply as it is written; see `StreamingModel`."""
        return await _finished(streamed(self._model, request, on_text))


async def _finished(call: Coroutine[Any, Any, ModelReply]) -> ModelReply:
    sent = asyncio.create_task(call)
    try:
        return await asyncio.shield(sent)
    except asyncio.CancelledError:
        await asyncio.wait({sent})
        if sent.cancelled() or sent.exception() is not None:
            raise
        return sent.result()
