"""A model that adds up what it took."""

from collections.abc import Callable

from paperscope.models.streaming import streamed
from paperscope.protocols import LanguageModel
from paperscope.types import ModelReply, ModelRequest, Usage

__all__ = ["MeteredModel"]


class MeteredModel:
    """Passes requests on; `usage` is the sum over all replies so far, those from a cache included as such."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._usage = Usage()

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    @property
    def usage(self) -> Usage:
        """What the replies so far took together."""
        return self._usage

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The wrapped model's reply."""
        return self._added(await self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The wrapped model's reply, told as it is written."""
        return self._added(await streamed(self._model, request, on_text))

    def _added(self, reply: ModelReply) -> ModelReply:
        self._usage += reply.usage
        return reply
