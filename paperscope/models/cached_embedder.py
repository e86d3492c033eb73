"""An embedder that embeds no text twice."""

from collections.abc import Container, Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope.protocols import Embedder, VectorCache

__all__ = ["CachedEmbedder"]

_BATCH = 64


class CachedEmbedder:
    """Looks into the cache first. What is new is kept batch by batch: what one costs is not lost with the next."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def name(self) -> str:
        """The wrapped embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """One row a text, of those kept and those embedded now."""
        known = dict(self._cache.get_vectors(self.name, texts))
        missing = _missing(texts, known)
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            fresh = dict(zip(batch, await self._embedder.embed(batch), strict=True))
            self._cache.put_vectors(self.name, fresh)
            known |= fresh
        if not texts:
            return np.zeros((0, self.dimension), dtype=float32)
        return np.stack([known[text] for text in texts])

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Those of the texts that are not kept yet, without repeats."""
        return _missing(texts, self._cache.get_vectors(self.name, texts))


def _missing(texts: Sequence[str], known: Container[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text not in known]
