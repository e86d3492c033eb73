"""A cross-encoder reranker."""

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paperscope_core.models.weights import Weights, load_weights

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

__all__ = ["CrossEncoderReranker"]


class CrossEncoderReranker:
    """A `Reranker` that loads its weights on first use and runs in a thread."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._model: CrossEncoder | None = None
        self._lock = threading.Lock()

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score texts against a question. See `Reranker.score`.

        Raises:
            ModelError: The weights can't be loaded.
        """
        return await asyncio.to_thread(self._score, question, list(texts))

    def _score(self, question: str, texts: list[str]) -> list[float]:
        if not texts:
            return []
        scores = self._load().predict([(question, text) for text in texts], show_progress_bar=False)
        return [float(score) for score in scores]

    def _load(self) -> "CrossEncoder":
        with self._lock:
            if self._model is None:
                self._model = load_weights(self._weights, _load_cross_encoder)
            return self._model


def _load_cross_encoder(folder: str) -> "CrossEncoder":
    from sentence_transformers import CrossEncoder

    model: CrossEncoder = CrossEncoder(folder, num_labels=1, device="cpu", local_files_only=True)
    return model
