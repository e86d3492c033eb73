"""The vector index: inner products over the chunks' vectors, searched by FAISS and saved as a snapshot.

A small index keeps all vectors in memory and compares a question with each. A large one has clusters; see `Clusters`.
"""

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Self, TypeAlias

import faiss
import numpy as np
from numpy import float32, int64
from numpy.typing import NDArray

from graph_store.index.clusters import Clusters, file_digest, one_thread, selector, stored_head
from graph_store.index.finding import check_dimension
from graph_store.reading import Checkpoint, Searchable
from paperscope_core.codec import from_json, to_json
from paperscope_core.files import PRIVATE_FILE, replace_file

__all__ = ["VectorIndex"]

_FORMAT = 2
_CLUSTERS_SUFFIX = ".clusters"

# With fewer vectors, comparing a question with all takes less than 11 ms.
_CLUSTERED_FROM = 100_000
# Clusters are made again when there are so many times more vectors.
_MOST_GROWTH = 4

Runs: TypeAlias = tuple[tuple[int, int], ...]
"""Numbers as ranges, each with its first number and the one after its last: those of a paper are mostly one range."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Header:
    """The first line of a snapshot, as JSON; `mark` is its checkpoint.

    The numbers and vectors of the chunks follow; or, if there are clusters, which were made from `clustered` vectors,
    these are in the file `clusters` beside the snapshot, whose digest is `content`.
    """

    format: int
    mark: Checkpoint
    embedder: str
    papers: dict[str, Runs]
    rows: int
    columns: int
    clustered: int = 0
    clusters: str = ""
    content: str = ""
    digest: str = ""

    def digest_of(self, body: bytes) -> str:
        """Return the digest of everything except the digest itself, and the vectors in clusters."""
        digest = hashlib.blake2b(to_json(replace(self, digest="")).encode(), digest_size=32)
        digest.update(body)
        return digest.hexdigest()


class VectorIndex:
    """Vectors by chunk number; not thread-safe.

    `changed` counts the vectors added and removed since the index was created or last saved.
    """

    def __init__(self, *, embedder: str) -> None:
        self.embedder = embedder
        self.checkpoint = Checkpoint()
        self.changed = 0
        self._papers: dict[str, Runs] = {}
        self._index: faiss.IndexIDMap2 | Clusters | None = None

    @classmethod
    def load(cls, file: Path, *, embedder: str, thorough: bool = False) -> Self:
        """Read a snapshot. If it is missing, corrupt or of another format, the index is empty, for `embedder`.

        Args:
            embedder: The embedder of an empty index.
            thorough: Whether to read the vectors in clusters to find out whether they are corrupt.
        """
        try:
            head, _, body = file.read_bytes().partition(b"\n")
            header = from_json(_Header, head)
            clusters = file.with_name(header.clusters) if header.clusters else None
            if clusters is not None:
                body = stored_head(clusters, rows=header.rows, columns=header.columns)
        except (FileNotFoundError, ValueError):
            return cls(embedder=embedder)
        split = header.rows * 8
        complete = clusters is not None or len(body) == split + header.rows * header.columns * 4
        if header.format != _FORMAT or not complete or header.digest != header.digest_of(body):
            return cls(embedder=embedder)
        if clusters is not None and thorough and file_digest(clusters) != header.content:
            return cls(embedder=embedder)
        index = cls(embedder=header.embedder)
        index.checkpoint = header.mark
        index._papers = dict(header.papers)
        if clusters is not None:
            index._index = Clusters.map(clusters, made_from=header.clustered)
            return index
        numbers = np.frombuffer(body[:split], dtype="<i8").astype(np.int64)
        vectors = np.frombuffer(body[split:], dtype="<f4").astype(np.float32)
        index._insert(numbers, vectors.reshape(header.rows, header.columns))
        return index

    def save(self, file: Path) -> None:
        """Replace the snapshot in `file` atomically. Raises OSError."""
        header = _Header(
            format=_FORMAT,
            mark=self.checkpoint,
            embedder=self.embedder,
            papers=self._papers,
            rows=len(self),
            columns=self._dimension,
        )
        body = parts = b""
        if isinstance(self._index, Clusters):
            # A new name, because another process may read the old file.
            clusters = file.with_name(f"{file.stem}-{secrets.token_hex(8)}{_CLUSTERS_SUFFIX}")
            self._index.save(clusters)
            header = replace(
                header, clustered=self._index.made_from, clusters=clusters.name, content=file_digest(clusters)
            )
            body = stored_head(clusters, rows=header.rows, columns=header.columns)
        elif self._index is not None:
            numbers, vectors = self._all()
            body = parts = numbers.astype("<i8").tobytes() + vectors.astype("<f4").tobytes()
        header = replace(header, digest=header.digest_of(body))
        replace_file(file, to_json(header).encode() + b"\n", parts, mode=PRIVATE_FILE)
        for older in file.parent.glob(f"{file.stem}-*{_CLUSTERS_SUFFIX}"):
            if older.name != header.clusters:
                older.unlink(missing_ok=True)
        self.changed = 0

    @property
    def _dimension(self) -> int:
        """The length of the vectors; 0 without vectors."""
        if isinstance(self._index, Clusters):
            return self._index.dimension
        return 0 if self._index is None else int(self._index.d)

    def __len__(self) -> int:
        if isinstance(self._index, Clusters):
            return len(self._index)
        return 0 if self._index is None else int(self._index.ntotal)

    def clear(self) -> None:
        """Delete everything."""
        self._papers.clear()
        self._index = None
        self.checkpoint = Checkpoint()

    def replace(self, paper: str, searchable: Searchable | None, *, checkpoint: Checkpoint) -> None:
        """Replace the vectors of a paper, or delete them if `searchable` is None, and move to a checkpoint.

        Papers of another embedder are left out, since their vectors can't be compared.
        """
        gone = list(_numbers(self._papers.pop(paper, ())))
        if gone and self._index is not None:
            if isinstance(self._index, Clusters):
                self._index.remove(gone)
            else:
                self._index.remove_ids(selector(gone))
            self.changed += len(gone)
        if searchable is not None and searchable.embedder == self.embedder and len(searchable.numbers):
            self._papers[paper] = _runs(searchable.numbers)
            self._insert(searchable.numbers, searchable.vectors)
            self.changed += len(searchable.numbers)
        self.checkpoint = checkpoint

    def search(
        self, vector: NDArray[float32], *, papers: Sequence[str], limit: int, among: Sequence[int] | None = None
    ) -> Iterator[tuple[int, float]]:
        """Yield the chunk numbers nearest to a vector of shape (d,), nearest first, with inner products; restricted to
        `papers`, unless it is empty, and to `among` if it is given.

        Raises SettingsError if the vector's length is not that of the index.
        """
        wanted = self._wanted(papers, among) if papers or among is not None else None
        count = min(limit, len(self) if wanted is None else len(wanted))
        if self._index is None or count < 1:
            return
        check_dimension(vector, self._dimension, embedder=self.embedder)
        query = np.ascontiguousarray(vector, dtype=float32)[None, :]
        if isinstance(self._index, Clusters):
            yield from self._index.search(query, count, wanted=wanted)
            return
        # FAISS's type stub lacks the arguments.
        parameters = None if wanted is None else faiss.SearchParameters(sel=selector(wanted))  # type: ignore[call-arg]
        with one_thread():
            scores, numbers = self._index.search(query, count, params=parameters)
        for number, score in zip(numbers[0].tolist(), scores[0].tolist(), strict=True):
            if number >= 0:
                yield number, score

    def _wanted(self, papers: Sequence[str], among: Sequence[int] | None) -> list[int]:
        numbers = list(chain.from_iterable(_numbers(self._papers.get(paper, ())) for paper in papers or self._papers))
        return numbers if among is None else sorted(set(numbers).intersection(among))

    def _insert(self, numbers: NDArray[int64], vectors: NDArray[float32]) -> None:
        if len(numbers) == 0:
            return
        vectors = np.ascontiguousarray(vectors, dtype=float32)
        if isinstance(self._index, Clusters):
            self._index.add(numbers, vectors)
            made_from = self._index.made_from
        else:
            if self._index is None:
                self._index = faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
            self._index.add_with_ids(vectors, numbers)
            made_from = 0
        if len(self) >= max(_CLUSTERED_FROM, _MOST_GROWTH * made_from):
            self._index = Clusters.train(*self._all())

    def _all(self) -> tuple[NDArray[int64], NDArray[float32]]:
        """Return the numbers and the vectors of all chunks."""
        if self._index is None:
            return np.empty(0, dtype=int64), np.empty((0, 0), dtype=float32)
        if isinstance(self._index, Clusters):
            return self._index.all()
        return faiss.vector_to_array(self._index.id_map), self._index.index.reconstruct_n(0, self._index.ntotal)


def _runs(numbers: NDArray[int64]) -> Runs:
    ordered = np.sort(numbers)
    starts = [0, *(np.flatnonzero(np.diff(ordered) != 1) + 1).tolist(), len(ordered)]
    return tuple((int(ordered[start]), int(ordered[end - 1]) + 1) for start, end in pairwise(starts))


def _numbers(runs: Runs) -> Iterable[int]:
    return chain.from_iterable(range(first, end) for first, end in runs)
