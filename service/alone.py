"""One batch at a time works in a folder: it holds a lock, which the system takes back however the batch ends."""

import asyncio
import os
import platform
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path

import filelock

from paperscope.errors import OutputError
from paperscope.files import writing

__all__ = ["alone_in"]

_FILE = ".batch.lock"
_LOOK_SECONDS = 0.5
_MOST_TOLD = 200


@asynccontextmanager
async def alone_in(folder: Path, *, patience: float = 0.0) -> AsyncIterator[None]:
    """Hold a folder, which is made where there is none; wait so many seconds for who holds it.

    Raises OutputError, which tells who that is, and changes nothing where another one goes on holding it.
    """
    lock = _Lock(folder)
    end = time.monotonic() + patience
    while not lock.take():
        if time.monotonic() >= end:
            raise OutputError(
                f"{folder}: another batch is at work there{lock.holder()}; wait until it ends, or choose another folder"
            )
        await asyncio.sleep(_LOOK_SECONDS)
    try:
        yield
    finally:
        lock.leave()


class _Lock:
    """The lock of a folder, a file in it while it is held."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / _FILE
        self._lock = filelock.FileLock(self._file, thread_local=False)

    def take(self) -> bool:
        """Take it where nobody has it. Raises OutputError."""
        with writing(self._file.parent), suppress(filelock.Timeout):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
            # Who comes next is told; the lock holds without it.
            with suppress(OSError):
                self._file.write_text(_myself(), encoding="utf-8")
        return self._lock.is_locked

    def leave(self) -> None:
        """Let the next one in."""
        with suppress(OSError):
            self._file.unlink()
        self._lock.release()

    def holder(self) -> str:
        """What the holder wrote, as a bracket; nothing where it did not, or it can't be read."""
        try:
            told = self._file.read_text(encoding="utf-8", errors="replace")[:_MOST_TOLD]
        except OSError:
            return ""
        return f" ({told})" if told and told.isprintable() else ""


def _myself() -> str:
    return f"process {os.getpid()} of {platform.node()}, since {datetime.now().astimezone():%Y-%m-%d %H:%M}"
