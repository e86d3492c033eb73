"""Worker locks, and the upkeep of a library's job queue."""

import time
from contextlib import suppress
from pathlib import Path

import filelock

from graph_store import Store
from graph_store.database import translate_errors
from paperscope_core.errors import UnknownJobError
from service.jobs.requests import JobFiles

__all__ = ["WorkerLocks", "has_pending_jobs", "housekeep", "requeue_orphans"]


_LOCK_SUFFIX = ".lock"
_WAIT_SECONDS = 5.0


class WorkerLocks:
    """The locks in `LIBRARY/workers`, a file a worker. Raises StoreError."""

    def __init__(self, library: Path) -> None:
        self._folder = library / "workers"

    def enter(self, worker: str) -> filelock.BaseFileLock:
        """Show that this worker lives, until the lock is released or its process ends."""
        with translate_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(self._folder / f"{worker}{_LOCK_SUFFIX}", thread_local=False)
            lock.acquire(timeout=_WAIT_SECONDS)
        return lock

    def leave(self, lock: filelock.BaseFileLock) -> None:
        """Take back what `enter` gave."""
        with translate_errors(self._folder):
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    def take_dead(self) -> list[str]:
        """The workers that ended without leaving; each is told once."""
        dead: list[str] = []
        for file in sorted(self._folder.glob(f"*{_LOCK_SUFFIX}")):
            lock = filelock.FileLock(file, timeout=0, thread_local=False)
            # Another one lives.
            with suppress(filelock.Timeout):
                lock.acquire()
                self.leave(lock)
                dead.append(file.name.removesuffix(_LOCK_SUFFIX))
        return dead


_DAY = 86_400.0
# A file that was handed over lies there for a moment before its job is in the queue.
_UPLOAD_GRACE_SECONDS = 60.0


def housekeep(folder: Path, *, keep_days: int) -> bool:
    """Put back the jobs of dead workers, forget those that ended so many days ago, and delete files that no job needs;
    tell whether there is work to do.

    Raises StoreError.
    """
    if not (folder / "library.sqlite").is_file():
        return False
    store = Store.open(folder)
    try:
        requeue_orphans(store, folder)
        store.jobs.forget(before=time.time() - keep_days * _DAY)
        files = JobFiles(folder)
        for job in files.jobs(older=_UPLOAD_GRACE_SECONDS):
            if not _is_needed(store, job):
                files.discard(job)
        return has_pending_jobs(store)
    finally:
        store.close()


def requeue_orphans(store: Store, folder: Path) -> None:
    """Put back the jobs of workers that died. Raises StoreError."""
    for worker in WorkerLocks(folder).take_dead():
        store.jobs.release(worker, died=True)


def has_pending_jobs(store: Store) -> bool:
    """Whether a job of the library has not ended."""
    counts = store.jobs.counts()
    return "queued" in counts or "running" in counts


def _is_needed(store: Store, job: str) -> bool:
    try:
        found = store.jobs.get(job)
    except UnknownJobError:
        return False
    return found.kind == "batch" or not found.ended
