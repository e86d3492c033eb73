"""What a library remembers as long as it is open."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from numpy import float32
from numpy.typing import NDArray

from paperscope.protocols import VectorCache
from paperscope.types import ModelReply

__all__ = ["MemoryCalls", "MemoryVectors"]


class MemoryCalls:
    """A `CallCache` for a library that may not be written."""

    def __init__(self) -> None:
        self._replies: dict[str, ModelReply] = {}

    def check_room(self) -> None:
        """There is always room."""

    def get_call(self, key: str) -> ModelReply | None:
        """The reply under a key, or None."""
        return self._replies.get(key)

    def put_call(self, key: str, _model: str, reply: ModelReply) -> None:
        """Keep a reply."""
        self._replies[key] = reply


class MemoryVectors:
    """A `VectorCache` of the `most` texts that were wanted last, for one embedder and one event loop.

    What another cache keeps is read from there; nothing is written to it."""

    def __init__(self, kept: VectorCache, *, most: int) -> None:
        self._kept = kept
        self._most = most
        self._vectors: OrderedDict[str, NDArray[float32]] = OrderedDict()

    def get_vectors(self, embedder: str, texts: Sequence[str]) -> Mapping[str, NDArray[float32]]:
        """The vectors of those texts that are remembered or kept."""
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        for text in known:
            self._vectors.move_to_end(text)
        missing = [text for text in texts if text not in known]
        kept = self._kept.get_vectors(embedder, missing) if missing else {}
        self.put_vectors(embedder, kept)
        return {**known, **kept}

    def put_vectors(self, _embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Remember the vectors of these texts, and forget those that were not wanted for longest."""
        # Copies: a row would keep the whole batch that it is a part of.
        self._vectors.update({text: vector.copy() for text, vector in vectors.items()})
        while len(self._vectors) > self._most:
            self._vectors.popitem(last=False)
