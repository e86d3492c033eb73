"""Papers that were read lately, so that asking a question does not decode the whole library again."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection

from graph_store.history import read_revision
from graph_store.reading import read_entries, read_entry, read_paper
from paperscope.types import Paper, PaperEntry

__all__ = ["PaperShelf"]


class PaperShelf:
    """Keeps the `size` papers used last, and the entries of all. A paper that was added again has another revision, and
    is read anew. Look-ups of unknown ids raise KeyError."""

    def __init__(self, *, size: int) -> None:
        self._size = size
        self._papers: OrderedDict[tuple[str, int], Paper] = OrderedDict()
        self._entries: tuple[int, tuple[PaperEntry, ...]] = (0, ())
        self._lock = threading.Lock()

    def entries(self, connection: Connection) -> Sequence[PaperEntry]:
        """All papers without their elements, in the order they were added."""
        revision = read_revision(connection)
        # Every question looks for the titles that it names; another process may have added papers.
        if self._entries[0] != revision:
            self._entries = (revision, tuple(read_entries(connection)))
        return self._entries[1]

    def papers(self, connection: Connection) -> list[Paper]:
        """All papers, in the order they were added."""
        return [self._get(connection, entry) for entry in read_entries(connection)]

    def paper(self, connection: Connection, paper: str) -> Paper:
        """The paper with this id."""
        return self._get(connection, read_entry(connection, paper))

    def newest(self, connection: Connection, condition: ColumnElement[bool]) -> Paper | None:
        """The paper that was added last of those that meet a condition."""
        entries = read_entries(connection, condition)
        return self._get(connection, entries[-1]) if entries else None

    def _get(self, connection: Connection, entry: PaperEntry) -> Paper:
        key = (entry.id, entry.revision)
        with self._lock:
            paper = self._papers.get(key)
            if paper is not None:
                self._papers.move_to_end(key)
                return paper
        paper = read_paper(connection, entry.id)
        with self._lock:
            self._papers[key] = paper
            while len(self._papers) > self._size:
                self._papers.popitem(last=False)
        return paper
