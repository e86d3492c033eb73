"""Vectors by the digests of their texts, in a file that is mapped into memory and only grows."""

import hashlib
import logging
import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import filelock
import numpy as np
from numpy import float32, int64
from numpy.typing import NDArray

from graph_store.reading import is_sound
from paperscope_core.files import PRIVATE_FILE, create_private_folder, replace_file

__all__ = ["VectorFile", "digest_of"]

_log = logging.getLogger(__name__)

_DIGEST = 16
_HEADER = 128
_LOCK_SECONDS = 60
# The file is rewritten without the vectors that no text needs any more when they are this share of it, so that adding
# n papers writes O(n) bytes; a question reads the whole file.
_STALE_SHARE = 0.25
_STALE_LEAST = 2000


def digest_of(text: str) -> bytes:
    """The digest of a text, by which its vector is found."""
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST).digest()


class VectorFile:
    """The vectors of texts; safe for several threads and processes.

    The file can be deleted: it holds only what can be computed again. One that is of another embedder or damaged counts
    as empty, and so does a record that is not of unit length. If the file can't be written, new vectors are kept in
    memory.

    Args:
        file: The file, in a folder that may be missing; None to keep the vectors in memory.
        embedder: The embedder's name.
        dimension: The length of its vectors.
        writable: Whether the file may be written.
    """

    def __init__(self, file: Path | None, *, embedder: str, dimension: int, writable: bool = True) -> None:
        name = hashlib.sha256(f"{dimension} {embedder}".encode()).hexdigest()
        self._header = f"paperscope vectors 1 {name}\n".encode().ljust(_HEADER, b"\0")
        self._record = np.dtype([("digest", f"V{_DIGEST}"), ("vector", "<f4", (dimension,))])
        self._file = file
        self._writable = writable
        self._lock = threading.RLock()
        self._records: NDArray[np.void] = np.zeros(0, self._record)
        self._rows: dict[bytes, int] = {}
        self._identity: tuple[int, int] | None = None

    def find(self, digests: Sequence[bytes]) -> tuple[NDArray[float32], NDArray[int64]]:
        """The file's vectors, of shape (n, d), and the row of each digest, which is -1 if it has none."""
        with self._lock:
            self._refresh()
            rows = np.fromiter((self._rows.get(one, -1) for one in digests), int64, len(digests))
            return self._records["vector"], rows

    def add(self, digests: Sequence[bytes], vectors: NDArray[float32]) -> None:
        """Append vectors, without those that are there."""
        with self._lock:
            if self._file is not None and self._write(partial(self._append, digests, vectors)):
                return
            self._file = None
            self._take(np.concatenate([self._records, self._new(digests, vectors)]), known=len(self._records))

    def forget_others(self, digests: Sequence[bytes]) -> None:
        """Rewrite the file with the vectors of these digests only, if many others are in it."""
        with self._lock:
            others = len(self._records) - len(digests)
            if self._file is not None and others > max(_STALE_LEAST, _STALE_SHARE * len(digests)):
                self._write(partial(self._rewrite, digests))

    def _write(self, work: Callable[[Path], None]) -> bool:
        """Change the file while no other process does; returns whether that was possible."""
        file = self._file
        if file is None or not self._writable:
            return False
        try:
            create_private_folder(file.parent)
            with filelock.FileLock(file.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=PRIVATE_FILE):
                self._refresh()
                work(file)
                self._refresh()
        except OSError as error:
            _log.warning("%s can't be written (%s)", file, error)
            return False
        return True

    def _append(self, digests: Sequence[bytes], vectors: NDArray[float32], file: Path) -> None:
        data = self._new(digests, vectors).tobytes()
        if self._identity is None:
            replace_file(file, self._header, data, mode=PRIVATE_FILE)
            return
        with file.open("r+b") as stream:
            # A process that was killed may have left a part of a record.
            end = _HEADER + self._records.nbytes
            stream.truncate(end)
            stream.seek(end)
            stream.write(data)

    def _rewrite(self, digests: Sequence[bytes], file: Path) -> None:
        kept = self._records[sorted({self._rows[one] for one in digests if one in self._rows})]
        replace_file(file, self._header, kept.tobytes(), mode=PRIVATE_FILE)

    def _new(self, digests: Sequence[bytes], vectors: NDArray[float32]) -> NDArray[np.void]:
        """The records of those that the file lacks."""
        new = [number for number, digest in enumerate(digests) if digest not in self._rows]
        records = np.zeros(len(new), self._record)
        records["digest"] = np.frombuffer(b"".join(digests[number] for number in new), f"V{_DIGEST}")
        records["vector"] = vectors[new]
        return records

    def _refresh(self) -> None:
        """Map what the file has now, which another process may have changed."""
        if self._file is None:
            return
        try:
            with self._file.open("rb") as stream:
                stat = os.fstat(stream.fileno())
                count = (stat.st_size - _HEADER) // self._record.itemsize
                identity = stat.st_dev, stat.st_ino
                if identity == self._identity and count == len(self._records):
                    return
                sound = stream.read(_HEADER) == self._header
                known = len(self._records) if identity == self._identity and count > len(self._records) else 0
                self._identity = identity if sound else None
                records = (
                    np.memmap(stream, self._record, mode="r", offset=_HEADER, shape=(count,))
                    if sound and count > 0
                    else np.zeros(0, self._record)
                )
        except FileNotFoundError:
            self._identity, records, known = None, np.zeros(0, self._record), 0
        self._take(records, known=known)

    def _take(self, records: NDArray[np.void], *, known: int = 0) -> None:
        """Use these records, of which the first `known` are already in use."""
        new = np.asarray(records[known:])
        digests = new["digest"].tobytes()
        if not known:
            self._rows = {}
        for number in np.flatnonzero(is_sound(new["vector"])).tolist():
            self._rows[digests[number * _DIGEST : (number + 1) * _DIGEST]] = known + number
        self._records = np.asarray(records)
