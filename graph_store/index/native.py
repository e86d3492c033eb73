"""The default index: full-text search by SQLite FTS5, vectors in FAISS, personalised PageRank over the graph."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import filelock

from graph_store.database import is_corruption, translate_errors
from graph_store.index.finding import find_candidates, find_named
from graph_store.index.graph_walk import WalkedGraph
from graph_store.index.text_index import TextIndex
from graph_store.index.vector_index import VectorIndex
from graph_store.reading import Searchable
from graph_store.store import Store
from paperscope_core.errors import StoreDamagedError
from paperscope_core.files import PRIVATE_FILE, create_private_file, create_private_folder
from paperscope_core.types import Candidates, Hit, RetrievalRequest

__all__ = ["VECTORS_FILE", "WORDS_FILE", "NativeGraphIndex"]

WORDS_FILE = "words.sqlite"
VECTORS_FILE = "vectors.snapshot"
"""The names of the files of an index."""

T = TypeVar("T")

_log = logging.getLogger(__name__)

_LOCK_FILE = "index.lock"
_LOCK_SECONDS = 600
# The snapshot is rewritten when this share of it has changed, so that adding n papers writes O(n) bytes, not O(n²).
_STALE_SHARE = 0.25
_STALE_LEAST = 2000
# So many changed vectors are read again from the store when a library is opened, in some 3 s.
_STALE_MOST = 50_000


class NativeGraphIndex:
    """Implements the protocol `GraphIndex`. It reads from the store, and so includes papers that other processes add.

    Safe for several threads; a lock file lets one process at a time write its files. If they can't be written, the
    index is kept in memory. Raises StoreError.
    """

    def __init__(self, store: Store, folder: Path, *, embedder: str | None) -> None:
        self._store = store
        self._folder = folder
        self._fixed_embedder = embedder
        self._lock = threading.RLock()
        self._writable = not store.read_only and _is_writable(folder)
        self._words_file = folder / WORDS_FILE
        self._snapshot_file = folder / VECTORS_FILE
        with translate_errors(folder), self._file_lock():
            self._words = self._open_words()
            self._vectors = VectorIndex.load(self._snapshot_file, embedder=self._embedder())

    @classmethod
    def open(cls, store: Store, folder: Path | None = None, *, embedder: str | None = None) -> Self:
        """Open the store's index and catch up with the store.

        Files that are missing, corrupt or from another library are rebuilt.

        Args:
            folder: The folder of the index's files; by default `index` in the store's local folder.
            embedder: The embedder of the questions' vectors, by default that of the newest paper. Papers of another
                embedder are found by words only.
        """
        index = cls(store, folder or store.index_folder, embedder=embedder)
        index.catch_up()
        return index

    @classmethod
    def rebuild(cls, store: Store, *, embedder: str | None = None) -> Self:
        """Delete the files of the store's index, and build it again; see `open`."""
        folder = store.index_folder
        with translate_errors(folder):
            create_private_folder(folder)
            with _locked(folder):
                for file in folder.iterdir():
                    if file.is_file() and file.name != _LOCK_FILE:
                        file.unlink()
        index = cls.open(store, embedder=embedder)
        index.save()
        return index

    def save(self) -> None:
        """Write the snapshot of vectors, which is otherwise written after many changes only."""
        with self._lock, translate_errors(self._folder), self._file_lock():
            if self._writable:
                self._vectors.save(self._snapshot_file)

    def close(self) -> None:
        """Release the files; the index can't be used afterwards."""
        with self._lock:
            self._words.close()

    @property
    def revision(self) -> int:
        """The store's revision that the index reflects."""
        return self._with_repair(self._revision)

    def catch_up(self) -> None:
        """Apply the store's changes since the index's revision."""
        self._with_repair(self._catch_up)

    def retrieve(self, request: RetrievalRequest) -> Candidates:
        """Find candidate chunks and entities for a question; see `find_candidates`.

        Raises SettingsError if the vector is of another embedder than the papers' vectors.
        """
        return self._with_repair(partial(self._retrieve, request))

    def named(self, text: str, *, papers: Sequence[str] = (), limit: int = 20) -> tuple[Hit, ...]:
        """Return the entities that a text names; see `find_named`."""
        return self._with_repair(partial(self._named, text, papers, limit))

    def _with_repair(self, work: Callable[[], T]) -> T:
        """Call `work`, and call it again with a new text index if the old one is corrupt."""
        with self._lock, translate_errors(self._folder):
            try:
                return work()
            except sqlite3.DatabaseError as error:
                if not is_corruption(error):
                    raise
            self._words.close()
            with self._file_lock():
                self._words = self._new_words()
            return work()

    def _revision(self) -> int:
        return min(self._words.checkpoint.revision, self._vectors.checkpoint.revision)

    def _catch_up(self) -> None:
        with self._file_lock():
            embedder = self._embedder()
            if embedder != self._vectors.embedder:
                self._vectors = VectorIndex(embedder=embedder)
            if not self._words.writable and self._words.checkpoint.revision != self._store.revision:
                self._words = self._words.copy_in_memory()
            self._apply_changes()
            stale = min(max(_STALE_LEAST, _STALE_SHARE * len(self._vectors)), _STALE_MOST)
            if self._writable and self._vectors.changed > stale:
                self._vectors.save(self._snapshot_file)

    def _apply_changes(self) -> None:
        """Bring both indexes to the store's newest revision; an index of another history is cleared first.

        Papers are read in their current state, so a concurrent change may be applied twice, which is harmless.
        """
        indexes = (self._words, self._vectors)
        for index in indexes:
            if self._store.checkpoint(index.checkpoint.revision) != index.checkpoint:
                index.clear()
        last = {change.paper: change.checkpoint for change in self._store.changes_since(self._revision())}
        for paper, checkpoint in sorted(last.items(), key=lambda item: item[1].revision):
            behind = [index for index in indexes if index.checkpoint.revision < checkpoint.revision]
            searchable = self._searchable(paper) if behind else None
            for index in behind:
                index.replace(paper, searchable, checkpoint=checkpoint)

    def _searchable(self, paper: str) -> Searchable | None:
        """Return what is searched of a paper; None if it is removed or damaged."""
        try:
            return self._store.searchable(paper)
        except KeyError:
            return None
        except StoreDamagedError as error:
            _log.warning("%s; until then, it is not searched", error)
            return None

    def _retrieve(self, request: RetrievalRequest) -> Candidates:
        self._catch_up_if_behind()
        text, filters, papers, limit = request.text, request.filters, request.filters.papers, max(request.limit, 0)
        among = self._words.numbers(filters)
        nearest = dict(self._vectors.search(request.vector, papers=papers, limit=limit, among=among))
        ids = self._words.chunk_ids(list(nearest))
        return find_candidates(
            self._store,
            request,
            by_words=self._words.chunks(text, filters=filters, limit=limit),
            by_vectors=[Hit(id=ids[number], score=score) for number, score in nearest.items() if number in ids],
            names=self._words.names(text, papers=papers, limit=limit),
            graph=self._graph,
        )

    def _graph(self, papers: Sequence[str]) -> WalkedGraph:
        return WalkedGraph(self._words.edges(papers), self._store.homes(papers))

    def _catch_up_if_behind(self) -> None:
        if self._revision() != self._store.revision:
            self._catch_up()

    def _named(self, text: str, papers: Sequence[str], limit: int) -> tuple[Hit, ...]:
        self._catch_up_if_behind()
        names = self._words.names(text, papers=papers, limit=limit)
        return find_named(self._store, names, papers=papers, limit=limit)

    def _embedder(self) -> str:
        return self._store.newest_embedder() if self._fixed_embedder is None else self._fixed_embedder

    def _file_lock(self) -> AbstractContextManager[object]:
        return _locked(self._folder) if self._writable else nullcontext()

    def _open_words(self) -> TextIndex:
        try:
            if self._writable:
                create_private_file(self._words_file)
                return TextIndex.open(self._words_file)
            return TextIndex.open_read_only(self._words_file)
        except sqlite3.OperationalError:
            if self._writable:
                raise
            return TextIndex.in_memory()
        except sqlite3.DatabaseError:
            return self._new_words()

    def _new_words(self) -> TextIndex:
        if not self._writable:
            return TextIndex.in_memory()
        for suffix in ("", "-wal", "-shm"):
            self._words_file.with_name(self._words_file.name + suffix).unlink(missing_ok=True)
        create_private_file(self._words_file)
        return TextIndex.open(self._words_file)


def _locked(folder: Path) -> AbstractContextManager[object]:
    return filelock.FileLock(folder / _LOCK_FILE, timeout=_LOCK_SECONDS, mode=PRIVATE_FILE)


def _is_writable(folder: Path) -> bool:
    """Return whether the folder exists or can be created, and files can be written to it."""
    probe = folder / _LOCK_FILE
    try:
        create_private_folder(folder)
        probe.touch(PRIVATE_FILE)
    except OSError:
        return False
    return True
