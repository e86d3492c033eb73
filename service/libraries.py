"""The libraries that the service has open, and the model usage that they report."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from paperscope.library import Library
from paperscope_core.models import RoleCallListener
from paperscope_core.settings import Settings
from paperscope_core.types import ModelCall

__all__ = ["Libraries", "ModelUsage", "OnUsage", "current_work", "usage_reporter"]


current_work: ContextVar[str] = ContextVar("current_work", default="answer")
"""What is being done: a question's "answer", or a job of this kind ("add", "batch")."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelUsage:
    """A model's call that has ended; nothing in it names a library, a paper, or who asked."""

    work: str
    role: str
    call: ModelCall


OnUsage = Callable[[ModelUsage], None]


def usage_reporter(on_spent: OnUsage) -> RoleCallListener:
    """For `Libraries`: passes their calls on, each with the work that caused it."""

    def on_call(role: str, call: ModelCall) -> None:
        on_spent(ModelUsage(work=current_work.get(), role=role, call=call))

    return on_call


_MAX_OPEN = 32


@dataclass(kw_only=True)
class _Opened:
    """A library and how many requests use it; `ready` is held while it opens."""

    library: Library | None = None
    users: int = 0
    ready: threading.Lock = field(default_factory=threading.Lock)


class Libraries:
    """Opens libraries with these settings, each in its own folder, and keeps those that were used last open.

    `on_call` hears of all their model calls, from other threads."""

    def __init__(self, settings: Settings, *, most: int = _MAX_OPEN, on_call: RoleCallListener | None = None) -> None:
        self._settings = settings
        self._on_call = on_call
        self._most = most
        self._opened: OrderedDict[Path, _Opened] = OrderedDict()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def use(self, folder: Path) -> AsyncIterator[Library]:
        """The library in this folder, which stays open throughout. Raises StoreError and SettingsError."""
        opened = self._take(folder)
        try:
            yield await asyncio.to_thread(self._open, folder, opened)
        finally:
            for idle in self._give_back(opened):
                await asyncio.to_thread(idle.close)

    def folders(self) -> list[Path]:
        """The folders of the libraries that are open."""
        with self._lock:
            return list(self._opened)

    def close(self, *, within: float) -> None:
        """Close all of them. Model calls under way are waited for, as they are paid, but no longer than that."""
        with self._lock:
            opened, self._opened = list(self._opened.values()), OrderedDict()
        # Threads that don't keep the process from ending.
        closing = [threading.Thread(target=one.library.close, daemon=True) for one in opened if one.library is not None]
        for thread in closing:
            thread.start()
        end = time.monotonic() + within
        for thread in closing:
            thread.join(max(0.0, end - time.monotonic()))

    def _take(self, folder: Path) -> _Opened:
        with self._lock:
            opened = self._opened.setdefault(folder, _Opened())
            self._opened.move_to_end(folder)
            opened.users += 1
            return opened

    def _open(self, folder: Path, opened: _Opened) -> Library:
        with opened.ready:
            if opened.library is None:
                opened.library = Library.open(folder, settings=self._settings, on_call=self._on_call)
            return opened.library

    def _give_back(self, opened: _Opened) -> list[Library]:
        """End a use; return libraries that nobody uses and that are too many, no longer kept."""
        with self._lock:
            opened.users -= 1
            idle = [folder for folder, one in self._opened.items() if one.users == 0]
            gone = [self._opened.pop(folder) for folder in idle[: max(0, len(self._opened) - self._most)]]
        return [one.library for one in gone if one.library is not None]
