"""Vectors of the texts by which LightRAG finds nodes and edges, and the search among them."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from graph_store.index.finding import check_dimension

__all__ = ["TextVectors", "VectorTable"]

_BATCH = 1000


class TextVectors:
    """The vectors of texts, each asked for once; safe for several threads.

    Args:
        embed: Embeds texts as rows, and caches them in the store.
        embed_questions: Embeds questions as rows; None for `embed`.
    """

    def __init__(
        self,
        embed: Callable[[Sequence[str]], NDArray[float32]],
        *,
        embedder: str,
        dimension: int,
        embed_questions: Callable[[Sequence[str]], NDArray[float32]] | None = None,
    ) -> None:
        self.embedder = embedder
        self.dimension = dimension
        self.embed_questions = embed_questions or embed
        self._embed = embed
        self._kept: dict[str, tuple[dict[str, int], NDArray[float32]]] = {}
        self._lock = threading.Lock()

    def of(self, kind: str, texts: Sequence[str], *, whole: bool = False) -> NDArray[float32]:
        """Return a vector for each text, of shape (n, d).

        Args:
            kind: What the texts are of.
            whole: Whether they are all of this kind, so that vectors of others are forgotten.

        Raises:
            ModelError: The embedder fails.
        """
        with self._lock:
            known, vectors = self._kept.get(kind, ({}, np.empty((0, self.dimension), dtype=float32)))
            missing = [text for text in dict.fromkeys(texts) if text not in known]
            if missing:
                parts = (missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH))
                known = known | {text: number for number, text in enumerate(missing, start=len(vectors))}
                vectors = np.concatenate([vectors, *map(self._embed, parts)])
            found = vectors[[known[text] for text in texts]]
            self._kept[kind] = ({text: row for row, text in enumerate(texts)}, found) if whole else (known, vectors)
            return found


@dataclass(frozen=True, kw_only=True)
class VectorTable:
    """Vectors by LightRAG's ids.

    Attributes:
        keys: What is found: a chunk's id, a node's name, or an edge.
        id_of: LightRAG's id of what is found.
        vectors: The vector of each key, of shape (n, d).
    """

    keys: Sequence[str | tuple[str, str]]
    id_of: Callable[[str | tuple[str, str]], str]
    vectors: NDArray[float32]
    embedder: str

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The position of each id."""
        return {self.id_of(key): number for number, key in enumerate(self.keys)}

    def search(self, vector: NDArray[float32], *, limit: int, least: float) -> list[tuple[int, float]]:
        """Return the positions nearest to a vector of shape (d,), with cosines of at least `least`, nearest first.

        Raises:
            SettingsError: The vector has another length.
        """
        if not len(self.keys) or limit < 1:
            return []
        check_dimension(vector, self.vectors.shape[1], embedder=self.embedder)
        scores = self.vectors @ (vector / (np.linalg.norm(vector) or 1.0)).astype(float32)
        limit = min(limit, len(scores))
        nearest = np.argpartition(-scores, limit - 1)[:limit]
        ordered = nearest[np.lexsort((nearest, -scores[nearest]))]
        return [(int(number), float(scores[number])) for number in ordered if scores[number] >= least]
