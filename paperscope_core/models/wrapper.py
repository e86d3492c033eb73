"""Base classes of models and embedders that wrap another one, and streaming from any model."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from paperscope_core.protocols import Embedder, LanguageModel, StreamingModel
from paperscope_core.types import ModelReply, ModelRequest

__all__ = ["EmbedderWrapper", "ModelWrapper", "SendRequest", "images_per_call", "reply_key", "stream_reply"]


def images_per_call(model: LanguageModel) -> int:
    """Return the most images that a request to a model should have; 0 if no limit is known."""
    return int(getattr(model, "images_per_call", 0))


def reply_key(model: LanguageModel, request: ModelRequest) -> str:
    """Return the key under which a model's reply to a request is cached; it depends on the model's extra fields."""
    return request.key(model.name + getattr(model, "variant", ""))


async def stream_reply(model: LanguageModel, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
    """Ask a model and pass its reply to `on_text` as it grows; in one piece if the model can't stream.

    Raises:
        ModelError: As `LanguageModel.complete`.
    """
    if isinstance(model, StreamingModel):
        return await model.stream(request, on_text)
    reply = await model.complete(request)
    on_text(reply.text)
    return reply


class SendRequest(Protocol):
    """Sends a wrapped model's request, streamed or not; each call of it is a call of the model."""

    def __call__(self) -> Awaitable[ModelReply]:
        """Return the wrapped model's reply."""
        ...


class ModelWrapper:
    """A language model that passes requests on to another one.

    A subclass overrides `_call`, which handles both streamed and other requests.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.name = model.name
        self._model = model

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Reply to a request. See `LanguageModel.complete`."""
        return await self._call(request, lambda: self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Reply to a request while it is written. See `StreamingModel.stream`."""
        return await self._call(request, lambda: stream_reply(self._model, request, on_text))

    def redacted(self, text: str) -> str:
        """Return the start of a text, for messages. See `LanguageModel.redacted`."""
        return self._model.redacted(text)

    @property
    def images_per_call(self) -> int:
        """The most images that a request should have; 0 if no limit is known."""
        return images_per_call(self._model)

    @property
    def variant(self) -> str:
        """What distinguishes the replies of one model with different extra fields."""
        return str(getattr(self._model, "variant", ""))

    async def _call(self, _request: ModelRequest, send: SendRequest, /) -> ModelReply:
        return await send()


class EmbedderWrapper:
    """An embedder that passes texts on to another one; a subclass defines `embed`."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
