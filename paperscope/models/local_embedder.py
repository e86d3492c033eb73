"""Embeddings on this machine, with sentence-transformers."""

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope.models.weights import Weights, loaded

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["LocalEmbedder"]


class LocalEmbedder:
    """An `Embedder` that loads its weights when they are first needed (seconds) and works in a thread.

    Texts are sorted by length into batches; a text beyond the model's window (256 word pieces for the bundled weights)
    is cut. Only a Hugging Face name may reach for the network, and only while its weights are loaded.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._model: SentenceTransformer | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The weights' name."""
        return self._weights.name

    @property
    def dimension(self) -> int:
        """The length of a vector; loads the weights. Raises `ModelError`."""
        return self._load().get_embedding_dimension() or 0

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """One unit-length row a text. Raises `ModelError`."""
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> NDArray[float32]:
        model = self._load()
        if not texts:
            return np.empty((0, self.dimension), dtype=float32)
        vectors = model.encode(texts, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=float32)

    def _load(self) -> "SentenceTransformer":
        with self._lock:
            if self._model is None:
                self._weights.verify()
                self._model = loaded(self._weights, _made)
            return self._model


def _made(folder: str) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(folder, device="cpu", local_files_only=True)
