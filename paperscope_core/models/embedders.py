"""Embedders: local sentence-transformers, OpenAI-compatible servers, batching."""

import asyncio
import logging
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from pydantic import BaseModel

from paperscope_core.errors import ContextTooLongError, ModelReplyError
from paperscope_core.models.endpoint import BadRequestError, Endpoint
from paperscope_core.models.server_habits import ServerHabits, batch_limit, habits_of
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.models.weights import Weights, load_weights
from paperscope_core.models.wrapper import EmbedderWrapper
from paperscope_core.protocols import Embedder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["BATCH_TEXTS", "BatchedEmbedder", "LocalEmbedder", "OpenAIEmbedder"]

BATCH_TEXTS = 64
"""The most texts in a call to a server."""

_FORMAT = "encoding_format"
_log = logging.getLogger(__name__)


class _Encoder(Protocol):
    """Embeds texts; the rows of the result are unit vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[float32]: ...


class LocalEmbedder:
    """An `Embedder` that loads its weights on first use, which takes seconds, and runs in a thread.

    Texts are batched by length, and truncated to the model's window (256 word pieces for the bundled weights). Only
    weights with a Hugging Face name may be downloaded, when they are loaded.

    Args:
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
                # Only PyTorch runs on other devices.
                if self._weights.bundled and self._device == "cpu":
                    self._encoder = load_weights(self._weights, _load_minilm)
                else:
                    load = partial(_load_transformer, device=self._device)
                    self._encoder = load_weights(self._weights, load, quietly=True)
            return self._encoder


def _load_minilm(folder: str) -> _Encoder:
    from paperscope_core.models.onnx_bert import MiniLM

    return MiniLM(Path(folder))


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
    """An `Embedder` behind OpenAI's embeddings endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.model
        self._endpoint = endpoint
        self._habits = habits_of(endpoint.base_url, endpoint.model)
        # The length of a vector, known from the first reply.
        self._length: int | None = None

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed any number of texts in one call. See `Embedder.embed`."""
        if not texts:
            return np.empty((0, 0), dtype=float32)
        body: dict[str, object] = {"input": list(texts)}
        if _FORMAT not in self._habits.rejected:
            try:
                reply = await self._endpoint.post("/embeddings", {**body, _FORMAT: "float"}, Embeddings)
                return self._unit_rows(reply, count=len(texts))
            except BadRequestError as error:
                if _FORMAT not in error.complaint:
                    raise
                self._habits.rejected |= {_FORMAT}
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
    """Embeds texts in batches, one after another, of as many and as long texts as a server takes.

    A rejected batch is halved, and the size that is accepted is remembered. A text that is longer than the model's
    window is shortened; a warning says how many were.

    Args:
        size: The most texts of a batch, until the server takes fewer.
        habits: What is known of the server, which is changed.
    """

    def __init__(self, embedder: Embedder, *, size: int = BATCH_TEXTS, habits: ServerHabits | None = None) -> None:
        super().__init__(embedder)
        self._size = size
        self._habits = habits or ServerHabits()

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts batch by batch. See `Embedder.embed`."""
        habits, before = self._habits, self._habits.texts
        rows: list[NDArray[float32]] = []
        left = [self._shortened(text) for text in texts]
        done = 0
        while done < len(left):
            batch = left[done : done + min(self._size, habits.texts or self._size)]
            try:
                rows.append(await self._embedder.embed(batch))
            except ContextTooLongError:
                longest = max(map(count_tokens, batch))
                if longest == 1:
                    raise
                habits.tokens = max(1, longest * 3 // 4)
                left[done:] = [self._shortened(text) for text in left[done:]]
            except BadRequestError as error:
                # A text that is rejected alone is no matter of the batch.
                habits.texts = batch_limit(error.complaint, len(batch)) if len(batch) > 1 else before
                if len(batch) == 1:
                    raise
            else:
                done += len(batch)
        cut = sum(text != whole for text, whole in zip(left, texts, strict=True))
        if cut:
            _log.warning(
                "%d of %d texts are longer than the window of %r; only the first %d tokens or so are embedded: "
                "a model with a longer window embeds all",
                cut,
                len(texts),
                self.name,
                habits.tokens,
            )
        return np.concatenate(rows) if rows else np.empty((0, 0), dtype=float32)

    def _shortened(self, text: str) -> str:
        """Return the beginning of a text that the server takes; all of it if no limit is known."""
        limit = self._habits.tokens
        while limit is not None and len(text) > 1 and (tokens := count_tokens(text)) > limit:
            text = text[: max(1, min(len(text) - 1, len(text) * limit // tokens))]
        return text
