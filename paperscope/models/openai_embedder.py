"""Embedders behind OpenAI's embeddings endpoint."""

from collections.abc import Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from pydantic import BaseModel

from paperscope.errors import ModelReplyError
from paperscope.models.endpoint import Endpoint

__all__ = ["OpenAIEmbedder"]


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
