"""Housekeeping of a library's job queue: orphaned jobs, old jobs, files that no job needs."""

from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

import filelock

from graph_store import Store
from graph_store.database import translate_errors
from graph_store.job_queue import PendingJobs
from graph_store.opening import is_library
from paperscope_core.errors import UnknownJobError
from paperscope_core.files import PRIVATE_FILE, create_private_folder
from paperscope_core.locations import Location, local_folder
from service.jobs.requests import JobFiles

__all__ = ["KEEP_DAYS", "WorkerLocks", "clean_up_jobs", "ended_jobs", "requeue_orphans"]

KEEP_DAYS = 30
"""How long ended jobs and their results are kept: a batch can be fetched after a holiday."""

_LOCK_SUFFIX = ".lock"
# The lock file is named after its worker; otherwise only housekeeping holds it, briefly.
_LOCK_TIMEOUT_SECONDS = 5.0
_SECONDS_PER_DAY = 86_400.0
# An upload is on disk shortly before its job is in the queue.
_UPLOAD_GRACE_SECONDS = 60.0


class WorkerLocks:
    """The lock files `LIBRARY/workers/NAME.lock`: one for each worker of this machine that is alive, and one for each
    service for which jobs are reserved.

    The operating system releases a lock when its process ends, even if it is killed. All methods raise StoreError.
    """

    def __init__(self, library: Location) -> None:
        self._folder = local_folder(library) / "workers"

    def acquire(self, worker: str) -> filelock.BaseFileLock:
        """Mark a worker as alive until `release` is called or its process ends."""
        with translate_errors(self._folder):
            create_private_folder(self._folder)
            lock = filelock.FileLock(self._folder / f"{worker}{_LOCK_SUFFIX}", thread_local=False, mode=PRIVATE_FILE)
            lock.acquire(timeout=_LOCK_TIMEOUT_SECONDS)
        return lock

    def release(self, lock: filelock.BaseFileLock) -> None:
        """Releases and deletes a lock from `acquire`."""
        with translate_errors(self._folder):
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    def remove_dead(self) -> list[str]:
        """Return the workers that died without releasing their lock; each is returned once."""
        dead: list[str] = []
        for file in sorted(self._folder.glob(f"*{_LOCK_SUFFIX}")):
            lock = filelock.FileLock(file, timeout=0, thread_local=False)
            # A worker that is alive holds its lock.
            with suppress(filelock.Timeout):
                lock.acquire()
                self.release(lock)
                dead.append(file.name.removesuffix(_LOCK_SUFFIX))
        return dead


def clean_up_jobs(folder: Location, *, keep_days: int = KEEP_DAYS, service: str = "") -> PendingJobs:
    """Requeue orphaned jobs, and deletes jobs that ended more than `keep_days` ago and files that no job needs.

    Extends the reservations of a service. Returns which jobs its workers may take in the library at `folder`. Raises
    StoreError.
    """
    if not is_library(folder):
        return PendingJobs(new=False, quarantined=False, running=False)
    with closing(Store.open(folder)) as store:
        if service:
            store.jobs.reserve(service)
        requeue_orphans(store, folder)
        store.jobs.forget(seconds=keep_days * _SECONDS_PER_DAY)
        files = JobFiles(folder)
        for job in files.jobs(min_age=_UPLOAD_GRACE_SECONDS):
            if not _needs_files(store, job):
                files.delete(job)
        return store.jobs.pending(service=service)


def requeue_orphans(store: Store, folder: Location) -> None:
    """Requeue the jobs of workers that died, and those that were reserved for a service that died.

    Raises StoreError.
    """
    for dead in WorkerLocks(folder).remove_dead():
        store.jobs.release(dead, died=True)
        store.jobs.end_reservations(dead)


def ended_jobs(folder: Location, jobs: Iterable[str]) -> list[str]:
    """Return those of these jobs of a library that have ended. Raises StoreError."""
    ended: list[str] = []
    with closing(Store.open(folder)) as store:
        for job in jobs:
            # A job is unknown until its upload is on disk.
            with suppress(UnknownJobError):
                ended += [job] if store.jobs.get(job).ended else []
    return ended


def _needs_files(store: Store, job: str) -> bool:
    try:
        found = store.jobs.get(job)
    except UnknownJobError:
        return False
    # A batch's results are kept as long as its job.
    return found.kind == "batch" or not found.ended
