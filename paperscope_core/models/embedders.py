"""Embedders: local sentence-transformers, OpenAI-compatible servers, batching."""

import asyncio
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from pydantic import BaseModel

from paperscope_core.errors import ModelReplyError
from paperscope_core.models.endpoint import Endpoint
from paperscope_core.models.weights import Weights, load_weights
from paperscope_core.models.wrapper import EmbedderWrapper
from paperscope_core.protocols import Embedder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["EMBEDDING_BATCH", "BatchedEmbedder", "LocalEmbedder", "OpenAIEmbedder"]

EMBEDDING_BATCH = 64
"""The number of texts that one call to a server embeds, and so the maximum that a failed call repeats."""


class _Encoder(Protocol):
    """Embeds texts; the rows of the result are unit vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[float32]: ...


class LocalEmbedder:
    """An `Embedder` that loads its weights on first use, which takes seconds, and runs in a thread.

    Texts are batched by length, and truncated to the model's window (256 word pieces for the bundled weights). Only
    weights with a Hugging Face name may be downloaded, when they are loaded.

    Args:
        weights: The weights.
        device: Where the model runs, by PyTorch's name.
    """

    def __init__(self, weights: Weights, *, device: str = "cpu") -> None:
        self.name = weights.name
        self._device = device
        self._weights = weights
        self._encoder: _Encoder | None = None
        self._lock = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts. See `Embedder.embed`."""
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> NDArray[float32]:
        return self._load().embed(texts)

    def _load(self) -> _Encoder:
        with self._lock:
            if self._encoder is None:
                self._weights.verify()
                load = _load_minilm if self._weights.bundled else _load_transformer
                self._encoder = load_weights(self._weights, partial(load, device=self._device))
            return self._encoder


def _load_minilm(folder: str, *, device: str) -> _Encoder:
    from paperscope_core.models.bert import MiniLM

    return MiniLM(Path(folder), device=device)


def _load_transformer(folder: str, *, device: str) -> _Encoder:
    from sentence_transformers import SentenceTransformer

    return _SentenceTransformerEncoder(SentenceTransformer(folder, device=device, local_files_only=True))


class _SentenceTransformerEncoder:
    """Any model of sentence-transformers."""

    def __init__(self, model: "SentenceTransformer") -> None:
        self._model = model

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        if not texts:
            return np.empty((0, 0), dtype=float32)
        vectors = self._model.encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(vectors, dtype=float32)


class OpenAIEmbedder:
    """An `Embedder` behind OpenAI's embeddings endpoint.

    Args:
        endpoint: The model and its server.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.model
        self._endpoint = endpoint
        # The length of a vector, known from the first reply.
        self._length: int | None = None

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed any number of texts in one call. See `Embedder.embed`."""
        if not texts:
            return np.empty((0, 0), dtype=float32)
        body = {"input": list(texts), "encoding_format": "float"}
        return self._unit_rows(await self._endpoint.post("/embeddings", body, Embeddings), count=len(texts))

    def _unit_rows(self, reply: "Embeddings", *, count: int) -> NDArray[float32]:
        vectors = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        if len(vectors) != count:
            raise self._error(f"{len(vectors)} vectors for {count} texts")
        lengths = {len(vector) for vector in vectors} | ({self._length} if self._length else set())
        if len(lengths) > 1:
            raise self._error(f"vectors of different lengths: {sorted(lengths)}")
        [self._length] = lengths
        rows = np.asarray(vectors, dtype=float32)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms) & (norms > 0)):
            raise self._error("a vector without direction (zero or not finite)")
        return np.asarray(rows / norms, dtype=float32)

    def _error(self, sent: str) -> ModelReplyError:
        return ModelReplyError(f"model {self.name!r} sent {sent}", where=self._endpoint.base_url)


class Embedding(BaseModel):
    """One vector and the position of its text."""

    index: int
    embedding: list[float]


class Embeddings(BaseModel):
    """The fields of an embeddings reply that are read."""

    data: list[Embedding]


class BatchedEmbedder(EmbedderWrapper):
    """Splits texts into batches of at most `size`, which it embeds one after another."""

    def __init__(self, embedder: Embedder, *, size: int = EMBEDDING_BATCH) -> None:
        super().__init__(embedder)
        self._size = size

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts batch by batch. See `Embedder.embed`."""
        starts = range(0, len(texts), self._size)
        batches = [await self._embedder.embed(texts[start : start + self._size]) for start in starts]
        return np.concatenate(batches) if batches else np.empty((0, 0), dtype=float32)
