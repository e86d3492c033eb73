"""The revision that LightRAG's storages read, and the refusal of what they would write."""

import asyncio
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NoReturn

from graph_store.lightrag.vectors import TextVectors
from graph_store.lightrag.view import View, restrict
from graph_store.store import Store
from paperscope_core.errors import StoreDamagedError, StoreReadOnlyError
from paperscope_core.types import Filters

__all__ = ["LibraryReader", "ReadingStorage", "refuse_to_write"]

_NO_FILTERS = Filters()

_held: ContextVar[View | None] = ContextVar("paperscope_lightrag_view", default=None)


class LibraryReader:
    """The library as LightRAG's storages read it; safe for several threads.

    What runs within `held` reads one revision. A read outside of it sees the newest one.

    Attributes:
        workspace: LightRAG's name for the library. LightRAG shares data between workspaces of one name in a process,
            whatever their folders are.
    """

    def __init__(self, store: Store, texts: TextVectors) -> None:
        self.store = store
        self.texts = texts
        self.workspace = f"paperscope_{hashlib.sha256(str(store.folder.resolve()).encode()).hexdigest()[:16]}"
        self._newest: View | None = None
        self._lock = threading.Lock()

    def newest(self) -> View:
        """The library at its newest revision, without the papers that are damaged. Raises StoreError."""
        with self._lock:
            if self._newest is None or self._newest.snapshot.revision != self.store.revision:
                self._newest = View(self.store.snapshot(), self.texts, whole=True)
            return self._newest

    @contextmanager
    def held(self, filters: Filters = _NO_FILTERS) -> Iterator[View]:
        """Let this task, and those that it starts, read one revision, and only what the filters allow (years are
        ignored). Within another `held`, its revision.

        Raises:
            StoreDamagedError: All papers are damaged.
        """
        view = self.view_now()
        if view.snapshot.damaged and not view.snapshot.papers:
            raise StoreDamagedError(view.snapshot.damaged[0])
        if filters.papers or filters.sections or filters.kinds:
            view = View(restrict(view.snapshot, filters), self.texts)
        token = _held.set(view)
        try:
            yield view
        finally:
            _held.reset(token)

    def view_now(self) -> View:
        """The view that is held, or else the newest."""
        return _held.get() or self.newest()

    async def view(self) -> View:
        """Awaitable `view_now`."""
        held = _held.get()
        return await asyncio.to_thread(self.newest) if held is None else held


class ReadingStorage:
    """What all storages have in common; a subclass sets `reader`."""

    reader: LibraryReader

    async def drop(self) -> dict[str, str]:
        """Refuse, in the form that LightRAG expects."""
        return {"status": "error", "message": "unsupported: a Paperscope library is changed with Paperscope"}

    async def index_done_callback(self) -> None:
        """Do nothing: nothing is pending."""


def refuse_to_write(what: str) -> NoReturn:
    """Refuse a change of what is derived from papers. Raises StoreReadOnlyError."""
    raise StoreReadOnlyError(
        f"LightRAG can't change {what} of a Paperscope library, because they are derived from its papers; add or "
        "remove papers with Paperscope"
    )
