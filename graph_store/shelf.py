"""Papers that were read lately, so that asking a question does not decode the whole library again."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from paperscope.types import Paper, PaperEntry

__all__ = ["PaperShelf"]


class PaperShelf:
    """Keeps the `size` papers used last. A paper that was added again has another revision, and is read anew."""

    def __init__(self, *, size: int) -> None:
        self._size = size
        self._papers: OrderedDict[tuple[str, int], Paper] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, entry: PaperEntry, read: Callable[[str], Paper]) -> Paper:
        """The paper of an entry; `read` fetches it by id where it is not on the shelf."""
        key = (entry.id, entry.revision)
        with self._lock:
            paper = self._papers.get(key)
            if paper is not None:
                self._papers.move_to_end(key)
                return paper
        paper = read(entry.id)
        with self._lock:
            self._papers[key] = paper
            while len(self._papers) > self._size:
                self._papers.popitem(last=False)
        return paper
