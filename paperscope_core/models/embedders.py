"""Embedders: local sentence-transformers, OpenAI-compatible servers, batching."""

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from pydantic import BaseModel

from paperscope_core.errors import ModelReplyError
from paperscope_core.models.endpoint import Endpoint
from paperscope_core.models.weights import Weights, load_weights
from paperscope_core.protocols import Embedder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


__all__ = ["BatchedEmbedder", "LocalEmbedder", "OpenAIEmbedder"]


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
                self._model = load_weights(self._weights, _load_transformer)
            return self._model


def _load_transformer(folder: str) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(folder, device="cpu", local_files_only=True)


class OpenAIEmbedder:
    """An `Embedder` on a server; `dimension` is checked against what the server sends."""

    def __init__(self, endpoint: Endpoint, *, dimension: int) -> None:
        self._endpoint = endpoint
        self._dimension = dimension

    @property
    def name(self) -> str:
        """The model's name as the server knows it."""
        return self._endpoint.model

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """One unit-length row a text, in one call; how many texts a call may hold is the server's business."""
        if not texts:
            return np.empty((0, self._dimension), dtype=float32)
        body = {"input": list(texts), "encoding_format": "float"}
        return self._unit_rows(await self._endpoint.post("/embeddings", body, Embeddings), count=len(texts))

    def _unit_rows(self, reply: "Embeddings", *, count: int) -> NDArray[float32]:
        vectors = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        where = self._endpoint.base_url
        if len(vectors) != count:
            raise ModelReplyError(f"model {self.name!r} sent {len(vectors)} vectors for {count} texts", where=where)
        lengths = {len(vector) for vector in vectors}
        if lengths != {self._dimension}:
            told = f"model {self.name!r} sent vectors of length {sorted(lengths)}: set embed.dimension to that"
            raise ModelReplyError(told, where=where)
        rows = np.asarray(vectors, dtype=float32)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms) & (norms > 0)):
            told = f"model {self.name!r} sent a vector without direction (zero or not finite)"
            raise ModelReplyError(told, where=where)
        return np.asarray(rows / norms, dtype=float32)


class Embedding(BaseModel):
    """One vector and the position of its text."""

    index: int
    embedding: list[float]


class Embeddings(BaseModel):
    """The part of an embeddings reply that is read."""

    data: list[Embedding]


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
