"""The vector index: inner products over the chunks' vectors, kept in memory by FAISS and saved as a snapshot.

A small index compares a question with all vectors. A large one has clusters of vectors of 16-bit numbers (FAISS's
inverted file), compares the question with the nearest clusters, and takes half the memory.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeAlias, cast

import faiss
import numpy as np
from numpy import float32, int64
from numpy.typing import NDArray

from graph_store.reading import Checkpoint, Searchable
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import SettingsError
from paperscope_core.files import PRIVATE_FILE, replace_file

__all__ = ["VectorIndex"]

Clusters: TypeAlias = faiss.IndexIVFScalarQuantizer

_FORMAT = 1

# With fewer vectors, comparing a question with all takes less than 10 ms. On 100,000 vectors that are mixtures of two
# sentences of papers, with noise, the nearest 64 of 632 clusters have 99.7 % of the ten nearest vectors, in 0.8 ms
# instead of 8.4, and 16-bit numbers change an inner product by less than 0.0001. Numbers of 8 bits: 99.3 %, and 0.001.
_CLUSTERED_FROM = 100_000
_SEARCHED_CLUSTERS = 64
# Clusters are made again when there are so many times more vectors.
_MOST_GROWTH = 4
_TRAINING_ROUNDS, _TRAINING_VECTORS, _TRAINING_SEED = 8, 64, 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Header:
    """The first line of a snapshot, as JSON; `mark` is its checkpoint. The numbers and vectors of the chunks follow, or
    FAISS's form of an index with clusters, which were made from `clustered` vectors."""

    format: int
    mark: Checkpoint
    embedder: str
    papers: dict[str, tuple[int, ...]]
    rows: int
    columns: int
    clustered: int = 0
    digest: str = ""

    def digest_of(self, body: bytes) -> str:
        """The digest of everything except the digest itself."""
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
        self._papers: dict[str, tuple[int, ...]] = {}
        self._index: faiss.IndexIDMap2 | Clusters | None = None
        # The number of vectors that the clusters were made from; 0 without clusters.
        self._clustered = 0

    @classmethod
    def load(cls, file: Path, *, embedder: str) -> Self:
        """Read a snapshot. If it is missing, corrupt or of another format, the index is empty, for `embedder`."""
        try:
            head, _, body = file.read_bytes().partition(b"\n")
            header = from_json(_Header, head)
        except (FileNotFoundError, ValueError):
            return cls(embedder=embedder)
        split = header.rows * 8
        complete = header.clustered > 0 or len(body) == split + header.rows * header.columns * 4
        if header.format != _FORMAT or not complete or header.digest != header.digest_of(body):
            return cls(embedder=embedder)
        index = cls(embedder=header.embedder)
        index.checkpoint = header.mark
        index._papers = dict(header.papers)
        if header.clustered:
            index._clustered = header.clustered
            index._index = cast("Clusters", faiss.deserialize_index(np.frombuffer(body, dtype=np.uint8)))
            return index
        numbers = np.frombuffer(body[:split], dtype="<i8").astype(np.int64)
        vectors = np.frombuffer(body[split:], dtype="<f4").astype(np.float32)
        index._insert(numbers, vectors.reshape(header.rows, header.columns))
        return index

    def save(self, file: Path) -> None:
        """Replace the snapshot in `file` atomically. Raises OSError."""
        rows, columns, body = 0, 0, b""
        if self._index is not None:
            rows, columns = self._index.ntotal, self._index.d
            if self._clustered:
                body = faiss.serialize_index(self._index).tobytes()
            else:
                numbers, vectors = self._all()
                body = numbers.astype("<i8").tobytes() + vectors.astype("<f4").tobytes()
        header = _Header(
            format=_FORMAT,
            mark=self.checkpoint,
            embedder=self.embedder,
            papers=self._papers,
            rows=rows,
            columns=columns,
            clustered=self._clustered,
        )
        header = replace(header, digest=header.digest_of(body))
        replace_file(file, to_json(header).encode() + b"\n", body, mode=PRIVATE_FILE)
        self.changed = 0

    def __len__(self) -> int:
        return 0 if self._index is None else int(self._index.ntotal)

    def clear(self) -> None:
        """Delete everything."""
        self._papers.clear()
        self._index = None
        self._clustered = 0
        self.checkpoint = Checkpoint()

    def replace(self, paper: str, searchable: Searchable | None, *, checkpoint: Checkpoint) -> None:
        """Replace the vectors of a paper, or delete them if `searchable` is None, and move to a checkpoint.

        Papers of another embedder are left out, since their vectors can't be compared.
        """
        gone = self._papers.pop(paper, ())
        if gone and self._index is not None:
            self._index.remove_ids(_selector(gone))
            self.changed += len(gone)
        if searchable is not None and searchable.embedder == self.embedder and len(searchable.numbers):
            self._papers[paper] = tuple(searchable.numbers.tolist())
            self._insert(searchable.numbers, searchable.vectors)
            self.changed += len(searchable.numbers)
        self.checkpoint = checkpoint

    def search(
        self, vector: NDArray[float32], *, papers: Sequence[str], limit: int, among: Sequence[int] | None = None
    ) -> Iterator[tuple[int, float]]:
        """The chunk numbers nearest to a vector of shape (d,), nearest first, with inner products; restricted to
        `papers`, unless it is empty, and to `among` if it is given.

        Raises SettingsError if the vector's length is not that of the index.
        """
        restricted = bool(papers) or among is not None
        wanted = self._numbers(papers, among) if restricted else []
        count = min(limit, len(wanted) if restricted else len(self))
        if self._index is None or count < 1:
            return
        if vector.shape != (self._index.d,):
            raise SettingsError(
                f"the question's vector has shape {vector.shape}, the papers' vectors have {self._index.d} numbers "
                f"(embedder {self.embedder!r}); choose that embedder again, or add the papers again"
            )
        parameters = self._parameters(wanted if restricted else None)
        query = np.ascontiguousarray(vector, dtype=float32)[None, :]
        scores, numbers = self._index.search(query, count, params=parameters)
        for number, score in zip(numbers[0].tolist(), scores[0].tolist(), strict=True):
            if number >= 0:
                yield number, score

    def _parameters(self, wanted: Sequence[int] | None) -> faiss.SearchParameters | None:
        """How to search, among all vectors or those with the numbers `wanted`, which may be in any cluster."""
        # FAISS's type stub lacks the arguments.
        if isinstance(self._index, Clusters):
            clusters = self._index.nlist
            if wanted is None:
                return faiss.SearchParametersIVF(nprobe=min(_SEARCHED_CLUSTERS, clusters))  # type: ignore[call-arg]
            return faiss.SearchParametersIVF(sel=_selector(wanted), nprobe=clusters)  # type: ignore[call-arg]
        return None if wanted is None else faiss.SearchParameters(sel=_selector(wanted))  # type: ignore[call-arg]

    def _numbers(self, papers: Sequence[str], among: Sequence[int] | None) -> list[int]:
        numbers = [number for paper in papers or self._papers for number in self._papers.get(paper, ())]
        return numbers if among is None else sorted(set(numbers).intersection(among))

    def _insert(self, numbers: NDArray[int64], vectors: NDArray[float32]) -> None:
        if len(numbers) == 0:
            return
        if self._index is None:
            self._index = faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
        self._index.add_with_ids(np.ascontiguousarray(vectors, dtype=float32), numbers)
        if len(self) >= max(_CLUSTERED_FROM, _MOST_GROWTH * self._clustered):
            self._cluster()

    def _cluster(self) -> None:
        """Makes clusters of all vectors; the same for the same vectors in the same order."""
        numbers, vectors = self._all()
        columns, clusters = vectors.shape[1], int(2 * math.sqrt(len(vectors)))
        index = Clusters(
            faiss.IndexFlatIP(columns), columns, clusters, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        )
        index.by_residual = False
        training = index.cp
        training.niter, training.seed = _TRAINING_ROUNDS, _TRAINING_SEED
        training.max_points_per_centroid = _TRAINING_VECTORS
        # The vectors are of unit length, and so are the centres.
        training.spherical = True
        index.train(vectors)
        index.add_with_ids(vectors, numbers)
        self._index, self._clustered = index, len(vectors)

    def _all(self) -> tuple[NDArray[int64], NDArray[float32]]:
        """The numbers and the vectors of all chunks."""
        if self._index is None:
            return np.empty(0, dtype=int64), np.empty((0, 0), dtype=float32)
        if isinstance(self._index, faiss.IndexIDMap2):
            return faiss.vector_to_array(self._index.id_map), self._index.index.reconstruct_n(0, self._index.ntotal)
        lists: Any = self._index.invlists
        numbers, codes = [], []
        for one in range(lists.nlist):
            if size := lists.list_size(one):
                numbers.append(faiss.rev_swig_ptr(lists.get_ids(one), size).copy())
                codes.append(faiss.rev_swig_ptr(lists.get_codes(one), size * lists.code_size).copy())
        halves = np.concatenate(codes).view("<f2").reshape(-1, self._index.d)
        order = np.argsort(ids := np.concatenate(numbers))
        return ids[order], halves[order].astype(float32)


def _selector(numbers: Sequence[int]) -> faiss.IDSelectorBatch:
    return faiss.IDSelectorBatch(np.array(numbers, dtype=np.int64))
