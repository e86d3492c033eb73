"""What is due in a library's queue of jobs when the service starts, and now and then."""

import time
from pathlib import Path

from graph_store import Store
from paperscope.errors import UnknownJobError
from service.job_files import JobFiles
from service.presence import Presence

__all__ = ["has_work", "put_back", "tend"]

_DAY = 86_400.0
# A file that was handed over lies there for a moment before its job is in the queue.
_UNCLAIMED_SECONDS = 60.0


def tend(folder: Path, *, keep_days: int) -> bool:
    """Put back the jobs of dead workers, forget those that ended so many days ago, and delete files that no job needs;
    tell whether there is work to do.

    Raises StoreError.
    """
    if not (folder / "library.sqlite").is_file():
        return False
    store = Store.open(folder)
    try:
        put_back(store, folder)
        store.jobs.forget(before=time.time() - keep_days * _DAY)
        files = JobFiles(folder)
        for job in files.jobs(older=_UNCLAIMED_SECONDS):
            if not _needed(store, job):
                files.discard(job)
        return has_work(store)
    finally:
        store.close()


def put_back(store: Store, folder: Path) -> None:
    """Put back the jobs of workers that died. Raises StoreError."""
    for worker in Presence(folder).take_dead():
        store.jobs.release(worker, died=True)


def has_work(store: Store) -> bool:
    """Whether a job of the library has not ended."""
    counts = store.jobs.counts()
    return "queued" in counts or "running" in counts


def _needed(store: Store, job: str) -> bool:
    try:
        found = store.jobs.get(job)
    except UnknownJobError:
        return False
    return found.kind == "batch" or not found.ended
