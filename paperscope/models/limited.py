"""A model that is not asked too much at once."""

import asyncio
from collections.abc import Awaitable, Callable

from paperscope.errors import ModelRateLimitError
from paperscope.models.per_loop import PerLoop
from paperscope.models.streaming import streamed
from paperscope.protocols import LanguageModel
from paperscope.types import ModelReply, ModelRequest

__all__ = ["LimitedModel"]

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
