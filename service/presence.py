"""Which workers of a library live: each holds a lock, which the system takes back when it dies, however it dies."""

from contextlib import suppress
from pathlib import Path

import filelock

from graph_store.failures import translated

__all__ = ["Presence"]

_SUFFIX = ".lock"
_WAIT_SECONDS = 5.0


class Presence:
    """The locks in `LIBRARY/workers`, a file a worker. Raises StoreError."""

    def __init__(self, library: Path) -> None:
        self._folder = library / "workers"

    def enter(self, worker: str) -> filelock.BaseFileLock:
        """Show that this worker lives, until the lock is released or its process ends."""
        with translated(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(self._folder / f"{worker}{_SUFFIX}", thread_local=False)
            lock.acquire(timeout=_WAIT_SECONDS)
        return lock

    def leave(self, lock: filelock.BaseFileLock) -> None:
        """Take back what `enter` gave."""
        with translated(self._folder):
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    def take_dead(self) -> list[str]:
        """The workers that ended without leaving; each is told once."""
        dead: list[str] = []
        for file in sorted(self._folder.glob(f"*{_SUFFIX}")):
            lock = filelock.FileLock(file, timeout=0, thread_local=False)
            # Another one lives.
            with suppress(filelock.Timeout):
                lock.acquire()
                self.leave(lock)
                dead.append(file.name.removesuffix(_SUFFIX))
        return dead
