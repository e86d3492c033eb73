"""An embedder that is asked in batches."""

from collections.abc import Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope.protocols import Embedder

__all__ = ["BatchedEmbedder"]


class BatchedEmbedder:
    """Hands at most `size` texts at once to the wrapped embedder, one batch after another."""

    def __init__(self, embedder: Embedder, *, size: int = 64) -> None:
        self._embedder = embedder
        self._size = size

    @property
    def name(self) -> str:
        """The wrapped embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """The batches' rows, in the order of the texts."""
        rows = np.empty((len(texts), self.dimension), dtype=float32)
        for start in range(0, len(texts), self._size):
            batch = texts[start : start + self._size]
            rows[start : start + len(batch)] = await self._embedder.embed(batch)
        return rows
