"""Vectors of the texts by which LightRAG finds nodes and edges, and the search among them."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import SettingsError

__all__ = ["TextVectors", "VectorTable"]


class TextVectors:
    """Remembers the vectors of texts, so that each is computed once; safe for several threads.

    Args:
        embed: Embeds texts as rows, and caches them in the store.
        embedder: The embedder's name.
        dimension: The length of its vectors.
    """

    def __init__(self, embed: Callable[[Sequence[str]], NDArray[float32]], *, embedder: str, dimension: int) -> None:
        self.embedder = embedder
        self.dimension = dimension
        self._embed = embed
        self._known: dict[str, NDArray[float32]] = {}
        self._lock = threading.Lock()

    def matrix(self, texts: Sequence[str]) -> NDArray[float32]:
        """The texts' vectors, of shape (texts, d). Raises ModelError."""
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._known]
            if missing:
                self._known.update(zip(missing, self._embed(missing), strict=True))
            rows = [self._known[text] for text in texts]
        return self.stack(rows)

    def stack(self, rows: Sequence[NDArray[float32]]) -> NDArray[float32]:
        """Some rows as a matrix, also if there are none."""
        return np.stack(rows) if rows else np.zeros((0, self.dimension), dtype=float32)


@dataclass(frozen=True, kw_only=True)
class VectorTable:
    """Vectors by LightRAG's ids; `keys` are what the rows stand for: a chunk's id, a node's name, or an edge."""

    ids: Sequence[str]
    keys: Sequence[str | tuple[str, str]]
    contents: Sequence[str]
    matrix: NDArray[float32]
    embedder: str

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each id."""
        return {key: row for row, key in enumerate(self.ids)}

    def check(self, vector: NDArray[float32]) -> None:
        """Check that a vector can be compared with these.

        Raises:
            SettingsError: It has another length.
        """
        if len(self.ids) and vector.shape != self.matrix.shape[1:]:
            raise SettingsError(
                f"the question's vector has shape {vector.shape}, the library's vectors have {self.matrix.shape[1]} "
                f"numbers (embedder {self.embedder!r}); choose that embedder again, or add the papers again"
            )

    def search(self, vector: NDArray[float32], *, limit: int, least: float) -> list[tuple[int, float]]:
        """The rows nearest to a vector of shape (d,), with cosines of at least `least`, nearest first.

        Raises:
            SettingsError: The vector has another length.
        """
        if not len(self.ids) or limit < 1:
            return []
        self.check(vector)
        scores = self.matrix @ (vector / (np.linalg.norm(vector) or 1.0)).astype(float32)
        limit = min(limit, len(scores))
        nearest = np.argpartition(-scores, limit - 1)[:limit]
        ordered = nearest[np.lexsort((nearest, -scores[nearest]))]
        return [(int(row), float(scores[row])) for row in ordered if scores[row] >= least]
