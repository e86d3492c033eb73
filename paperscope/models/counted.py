"""Models that tell how each of their calls ended."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from numpy import float32
from numpy.typing import NDArray

from paperscope.errors import ModelRateLimitError
from paperscope.models.expected import expected_embedding
from paperscope.models.streaming import streamed
from paperscope.protocols import CallCache, Embedder, LanguageModel
from paperscope.types import ModelCall, ModelReply, ModelRequest, Usage

__all__ = ["CountedCache", "CountedEmbedder", "CountedModel", "OnCall"]

T = TypeVar("T")

OnCall = Callable[[ModelCall], None]


class CountedModel:
    """Tells each call that is sent, also those that fail and are tried again; `on_call` hears it on any thread."""

    def __init__(self, model: LanguageModel, on_call: OnCall) -> None:
        self._model = model
        self._on_call = on_call

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The wrapped model's reply."""
        return await self._counted(self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The wrapped model's reply; see `StreamingModel`."""
        return await self._counted(streamed(self._model, request, on_text))

    async def _counted(self, call: Awaitable[ModelReply]) -> ModelReply:
        return await _told(call, self._on_call, usage=lambda reply: reply.usage)


class CountedEmbedder:
    """An embedder that tells each call that is sent; its tokens are told by rule (`expected_embedding`)."""

    def __init__(self, embedder: Embedder, on_call: OnCall, *, price_prompt: float = 0.0) -> None:
        self._embedder = embedder
        self._on_call = on_call
        self._price_prompt = price_prompt

    @property
    def name(self) -> str:
        """The wrapped embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """The wrapped embedder's rows."""
        taken = expected_embedding(texts, price_prompt=self._price_prompt)
        return await _told(self._embedder.embed(texts), self._on_call, usage=lambda _rows: taken)


class CountedCache:
    """A cache that tells each call that it answers."""

    def __init__(self, cache: CallCache, on_call: OnCall) -> None:
        self._cache = cache
        self._on_call = on_call

    def get_call(self, key: str) -> ModelReply | None:
        """See `CallCache.get_call`."""
        reply = self._cache.get_call(key)
        if reply is not None:
            self._on_call(ModelCall(outcome="kept"))
        return reply

    def check_room(self) -> None:
        """See `CallCache.check_room`."""
        self._cache.check_room()

    def put_call(self, key: str, model: str, reply: ModelReply) -> None:
        """See `CallCache.put_call`."""
        self._cache.put_call(key, model, reply)


async def _told(call: Awaitable[T], on_call: OnCall, *, usage: Callable[[T], Usage]) -> T:
    """What a call brings, told with its usage; one that fails is told, too, as is one that is given up."""
    ended = ModelCall(outcome="failed")
    try:
        brought = await call
        ended = ModelCall(outcome="answered", usage=usage(brought))
    except ModelRateLimitError:
        ended = ModelCall(outcome="limited")
        raise
    finally:
        on_call(ended)
    return brought
