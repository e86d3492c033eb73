"""A model whose calls, once sent, go on to their end: they are paid."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from paperscope.models.streaming import streamed
from paperscope.protocols import LanguageModel
from paperscope.types import ModelReply, ModelRequest

__all__ = ["FinishingModel"]


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
