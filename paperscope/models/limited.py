"""A model that is not asked too much at once."""

import asyncio

from paperscope.models.per_loop import PerLoop
from paperscope.protocols import LanguageModel
from paperscope.types import ModelReply, ModelRequest

__all__ = ["LimitedModel"]


class LimitedModel:
    """At most `concurrency` calls are under way at once on an event loop."""

    def __init__(self, model: LanguageModel, *, concurrency: int) -> None:
        self._model = model
        self._slots = PerLoop(lambda: asyncio.Semaphore(concurrency))

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Wait for a slot, then ask."""
        async with self._slots.get():
            return await self._model.complete(request)
