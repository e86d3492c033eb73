"""Vectors of the texts by which LightRAG finds nodes and edges, and the search among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy import float32, int64
from numpy.typing import NDArray

from graph_store.lightrag.vector_file import VectorFile, digest_of
from paperscope_core.errors import SettingsError

__all__ = ["TextVectors", "VectorTable"]

_BATCH = 1000


class TextVectors:
    """The vectors of texts, each computed once; safe for several threads.

    Args:
        embed: Embeds texts as rows, and caches them in the store.
        embed_questions: Embeds questions as rows; None for `embed`.
        embedder: The embedder's name.
        dimension: The length of its vectors.
        folder: Where they are kept in files beside the store's cache, so that they need not be read from it one by one;
            None to keep them in memory.
        writable: Whether these files may be written.
    """

    def __init__(
        self,
        embed: Callable[[Sequence[str]], NDArray[float32]],
        *,
        embedder: str,
        dimension: int,
        embed_questions: Callable[[Sequence[str]], NDArray[float32]] | None = None,
        folder: Path | None = None,
        writable: bool = True,
    ) -> None:
        self.embedder = embedder
        self.dimension = dimension
        self.embed_questions = embed_questions or embed
        self._embed = embed
        self._folder = folder
        self._writable = writable
        self._files: dict[str, VectorFile] = {}

    def rows(
        self, kind: str, texts: Sequence[str], *, forget_others: bool = False
    ) -> tuple[NDArray[float32], NDArray[int64]]:
        """Vectors of this kind, and the row of each text in them.

        Args:
            kind: What the texts are of; each kind has a file.
            texts: The texts.
            forget_others: Whether the vectors of other texts may be deleted, if there are many.

        Raises:
            ModelError: The embedder fails.
        """
        file = self._files.setdefault(kind, self._open(kind))
        digests = [digest_of(text) for text in texts]
        _, rows = file.find(digests)
        missing = list({digests[number]: number for number in np.flatnonzero(rows < 0).tolist()}.values())
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            file.add([digests[number] for number in batch], self._embed([texts[number] for number in batch]))
        if forget_others:
            file.forget_others(digests)
        return file.find(digests)

    def _open(self, kind: str) -> VectorFile:
        return VectorFile(
            self._folder and self._folder / f"lightrag-{kind}.vectors",
            embedder=self.embedder,
            dimension=self.dimension,
            writable=self._writable,
        )


@dataclass(frozen=True, kw_only=True)
class VectorTable:
    """Vectors by LightRAG's ids.

    Attributes:
        keys: What is found: a chunk's id, a node's name, or an edge.
        id_of: LightRAG's id of what is found.
        vectors: The vectors, among others, of shape (n, d).
        rows: The row of each key's vector in them; None if they are in the order of the keys.
        embedder: The embedder's name.
    """

    keys: Sequence[str | tuple[str, str]]
    id_of: Callable[[str | tuple[str, str]], str]
    vectors: NDArray[float32]
    rows: NDArray[int64] | None
    embedder: str

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The position of each id."""
        return {self.id_of(key): number for number, key in enumerate(self.keys)}

    def vector(self, number: int) -> NDArray[float32]:
        """The vector at a position."""
        return np.asarray(self.vectors[number if self.rows is None else self.rows[number]])

    def check(self, vector: NDArray[float32]) -> None:
        """Check that a vector can be compared with these.

        Raises:
            SettingsError: It has another length.
        """
        if len(self.keys) and vector.shape != self.vectors.shape[1:]:
            raise SettingsError(
                f"the question's vector has shape {vector.shape}, the library's vectors have {self.vectors.shape[1]} "
                f"numbers (embedder {self.embedder!r}); choose that embedder again, or add the papers again"
            )

    def search(self, vector: NDArray[float32], *, limit: int, least: float) -> list[tuple[int, float]]:
        """The positions nearest to a vector of shape (d,), with cosines of at least `least`, nearest first.

        Raises:
            SettingsError: The vector has another length.
        """
        if not len(self.keys) or limit < 1:
            return []
        self.check(vector)
        scores = self.vectors @ (vector / (np.linalg.norm(vector) or 1.0)).astype(float32)
        if self.rows is not None:
            scores = scores[self.rows]
        limit = min(limit, len(scores))
        nearest = np.argpartition(-scores, limit - 1)[:limit]
        ordered = nearest[np.lexsort((nearest, -scores[nearest]))]
        return [(int(number), float(scores[number])) for number in ordered if scores[number] >= least]
