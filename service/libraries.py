"""The libraries that the service keeps open, and the model usage that they report."""

import asyncio
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from paperscope.library import Library
from paperscope_core.locations import Location
from paperscope_core.settings import Settings
from paperscope_core.types import ModelCall

__all__ = ["Libraries", "ModelUsage", "OnUsage", "current_work", "share_processor"]

# An open library keeps its index in memory.
_MAX_OPEN = 32

current_work: ContextVar[str] = ContextVar("current_work", default="answer")
"""What the current task works on: a question ("answer") or a job of this kind ("add", "batch", "table")."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelUsage:
    """A finished model call, the work that caused it and the role of the model.

    It names no library, paper or caller.
    """

    work: str
    role: str
    call: ModelCall


_SWITCH_SECONDS = 0.0005


def share_processor(*, processes: int = 1) -> None:
    """Let the threads of this process take turns often, and the local models of so many use half of the processor.

    A step of one library then delays one of another library by fractions of a millisecond, not by Python's 5 ms, each
    time that the latter has waited for the disk. Must be called before models are loaded.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // (2 * processes))))


OnUsage = Callable[[ModelUsage], None]


@dataclass(kw_only=True)
class _Opened:
    """A library and the number of its users; `opening` is locked while it opens."""

    library: Library | None = None
    users: int = 0
    opening: threading.Lock = field(default_factory=threading.Lock)


class Libraries:
    """Opens libraries by their places (`folder`), all with the same settings, and keeps those used last open.

    Args:
        settings: The settings of all libraries, except for the place.
        max_open: How many libraries stay open while nobody uses them.
        on_usage: Called with each finished model call, from any thread.
    """

    def __init__(self, settings: Settings, *, on_usage: OnUsage | None = None, max_open: int = _MAX_OPEN) -> None:
        self._settings = settings
        self._on_usage = on_usage
        self._max_open = max_open
        self._opened: OrderedDict[Location, _Opened] = OrderedDict()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def use(self, folder: Location) -> AsyncIterator[Library]:
        """Lend the library at this place, kept open within the block. Raises StoreError and SettingsError."""
        opened = self._acquire(folder)
        try:
            yield await asyncio.to_thread(self._open, folder, opened)
        finally:
            for library in self._release(opened):
                await asyncio.to_thread(library.close)

    def close(self, *, timeout: float) -> None:
        """Close all libraries; waits at most `timeout` seconds for model calls in progress, which are paid for."""
        with self._lock:
            opened, self._opened = list(self._opened.values()), OrderedDict()
        # Daemon threads, so that an endless call does not keep the process alive.
        closing = [threading.Thread(target=one.library.close, daemon=True) for one in opened if one.library is not None]
        for thread in closing:
            thread.start()
        deadline = time.monotonic() + timeout
        for thread in closing:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _acquire(self, folder: Location) -> _Opened:
        with self._lock:
            opened = self._opened.setdefault(folder, _Opened())
            self._opened.move_to_end(folder)
            opened.users += 1
            return opened

    def _open(self, folder: Location, opened: _Opened) -> Library:
        with opened.opening:
            if opened.library is None:
                on_call = self._report_call if self._on_usage else None
                opened.library = Library.open(folder, settings=self._settings, on_call=on_call)
            return opened.library

    def _release(self, opened: _Opened) -> list[Library]:
        """End a use; return the unused libraries over the limit, which the caller closes."""
        with self._lock:
            opened.users -= 1
            unused = [folder for folder, one in self._opened.items() if one.users == 0]
            evicted = [self._opened.pop(folder) for folder in unused[: max(0, len(self._opened) - self._max_open)]]
        return [one.library for one in evicted if one.library is not None]

    def _report_call(self, role: str, call: ModelCall) -> None:
        if self._on_usage:
            self._on_usage(ModelUsage(work=current_work.get(), role=role, call=call))
