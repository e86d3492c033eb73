"""A model that adds up what it took."""

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
        reply = await self._model.complete(request)
        self._usage += reply.usage
        return reply
