"""The vector index: exact inner products over the chunks' vectors, kept in memory by FAISS and saved as a snapshot."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import faiss
import numpy as np
from numpy import float32, int64
from numpy.typing import NDArray

from graph_store.reading import Checkpoint, Searchable
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import SettingsError
from paperscope_core.files import replace_file

__all__ = ["VectorIndex", "VectorTable", "load_snapshot", "save_snapshot"]

_FORMAT = 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class VectorTable:
    """The content of a vector index: the chunk numbers of each paper, and a row of `vectors` per entry of `numbers`."""

    mark: Checkpoint
    embedder: str
    papers: dict[str, tuple[int, ...]]
    numbers: NDArray[int64]
    vectors: NDArray[float32]


class VectorIndex:
    """Vectors by chunk number; not thread-safe.

    `changed` counts the vectors added and removed since the index was created or last saved.
    """

    def __init__(self, *, embedder: str) -> None:
        self.embedder = embedder
        self.mark = Checkpoint()
        self.changed = 0
        self._papers: dict[str, tuple[int, ...]] = {}
        self._index: faiss.IndexIDMap2 | None = None

    @classmethod
    def of(cls, table: VectorTable) -> "VectorIndex":
        """An index with this content."""
        index = cls(embedder=table.embedder)
        index.mark = table.mark
        index._papers = dict(table.papers)
        index._insert(table.numbers, table.vectors)
        return index

    def table(self) -> VectorTable:
        """The whole content."""
        numbers = np.zeros(0, dtype=np.int64)
        vectors = np.zeros((0, 0), dtype=float32)
        if self._index is not None:
            numbers = faiss.vector_to_array(self._index.id_map)
            vectors = self._index.index.reconstruct_n(0, self._index.ntotal)
        return VectorTable(
            mark=self.mark, embedder=self.embedder, papers=dict(self._papers), numbers=numbers, vectors=vectors
        )

    def __len__(self) -> int:
        return 0 if self._index is None else int(self._index.ntotal)

    def clear(self) -> None:
        """Delete everything."""
        self._papers.clear()
        self._index = None
        self.mark = Checkpoint()

    def replace(self, paper: str, searchable: Searchable | None, *, mark: Checkpoint) -> None:
        """Replace the vectors of a paper, or delete them if `searchable` is None, and move to `mark`.

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
        self.mark = mark

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
        # FAISS's type stub lacks this argument.
        parameters = faiss.SearchParameters(sel=_selector(wanted)) if restricted else None  # type: ignore[call-arg]
        query = np.ascontiguousarray(vector, dtype=float32)[None, :]
        scores, numbers = self._index.search(query, count, params=parameters)
        for number, score in zip(numbers[0].tolist(), scores[0].tolist(), strict=True):
            if number >= 0:
                yield number, score

    def _numbers(self, papers: Sequence[str], among: Sequence[int] | None) -> list[int]:
        numbers = [number for paper in papers or self._papers for number in self._papers.get(paper, ())]
        return numbers if among is None else sorted(set(numbers).intersection(among))

    def _insert(self, numbers: NDArray[int64], vectors: NDArray[float32]) -> None:
        if len(numbers) == 0:
            return
        if self._index is None:
            self._index = faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
        self._index.add_with_ids(np.ascontiguousarray(vectors, dtype=float32), numbers)


def _selector(numbers: Sequence[int]) -> faiss.IDSelectorBatch:
    return faiss.IDSelectorBatch(np.array(numbers, dtype=np.int64))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Header:
    format: int
    mark: Checkpoint
    embedder: str
    papers: dict[str, tuple[int, ...]]
    rows: int
    columns: int
    digest: str = ""


def save_snapshot(file: Path, table: VectorTable) -> None:
    """Replace the snapshot in `file` atomically. Raises OSError."""
    rows, columns = table.vectors.shape
    body = table.numbers.astype("<i8").tobytes() + table.vectors.astype("<f4").tobytes()
    header = _Header(
        format=_FORMAT,
        mark=table.mark,
        embedder=table.embedder,
        papers=table.papers,
        rows=rows,
        columns=columns,
    )
    header = replace(header, digest=_digest(header, body))
    replace_file(file, to_json(header).encode() + b"\n", body)


def load_snapshot(file: Path) -> VectorTable | None:
    """The saved content; None if the file is missing, corrupt or of another format."""
    try:
        head, _, body = file.read_bytes().partition(b"\n")
        header = from_json(_Header, head)
    except (FileNotFoundError, ValueError):
        return None
    split = header.rows * 8
    if (
        header.format != _FORMAT
        or len(body) != split + header.rows * header.columns * 4
        or header.digest != _digest(header, body)
    ):
        return None
    return VectorTable(
        mark=header.mark,
        embedder=header.embedder,
        papers=header.papers,
        numbers=np.frombuffer(body[:split], dtype="<i8").astype(np.int64),
        vectors=np.frombuffer(body[split:], dtype="<f4").astype(np.float32).reshape(header.rows, header.columns),
    )


def _digest(header: _Header, body: bytes) -> str:
    """The digest of everything except the digest itself."""
    digest = hashlib.blake2b(to_json(replace(header, digest="")).encode(), digest_size=32)
    digest.update(body)
    return digest.hexdigest()
