"""The cache of paid calls for a library that may not be written."""

from paperscope.types import ModelReply

__all__ = ["MemoryCalls"]


class MemoryCalls:
    """Obeys `CallCache` for the life of the process."""

    def __init__(self) -> None:
        self._replies: dict[str, ModelReply] = {}

    def get_call(self, key: str) -> ModelReply | None:
        """The reply under a key, or None."""
        return self._replies.get(key)

    def put_call(self, key: str, _model: str, reply: ModelReply) -> None:
        """Keep a reply."""
        self._replies[key] = reply
