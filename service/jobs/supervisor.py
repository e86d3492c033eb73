"""The supervisor, in the service: runs a worker process while there are jobs, and requeues its jobs when it dies."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path

from graph_store import Store
from paperscope_core.errors import PaperscopeError, StoreError
from paperscope_core.settings import Settings
from service.jobs.housekeeping import clean_up_jobs, has_pending_jobs, requeue_orphans
from service.jobs.worker_process import WorkerProcess
from service.libraries import OnUsage

__all__ = ["Supervisor"]

_HOUSEKEEPING_SECONDS = 3600.0
# A worker that ended sooner is restarted after a pause, which doubles each time.
_SHORT_LIFE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.5
_MAX_PAUSE_SECONDS = 30.0

_log = logging.getLogger(__name__)


class Supervisor:
    """Runs a worker process while there are jobs. All methods belong to the event loop that `start` was called on.

    Args:
        folders: Returns the folders of all libraries that may have jobs; it may raise PaperscopeError.
        on_usage: Called with each model call that a job causes.
    """

    def __init__(self, settings: Settings, *, folders: Callable[[], Iterable[Path]], on_usage: OnUsage) -> None:
        self._settings = settings
        self._folders = folders
        self._on_usage = on_usage
        self._notified: set[Path] = set()
        self._woken = asyncio.Event()
        self._worker: WorkerProcess | None = None
        self._owner = ""
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Starts housekeeping, which finds waiting jobs, and runs workers."""
        self._tasks = [asyncio.create_task(self._keep_house()), asyncio.create_task(self._run_workers())]

    def notify(self, folder: Path) -> None:
        """Notifies the worker of a library with a new or cancelled job."""
        self._notified.add(folder)
        self._woken.set()
        if self._worker is not None:
            self._worker.notify(folder)

    async def stop(self) -> None:
        """Ends the worker and requeues its jobs, which continue when the service is started again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await worker.stop(max_wait=self._settings.service.shutdown_seconds)
            # A request in progress may still add a folder.
            for folder in list(self._notified):
                with suppress(StoreError):
                    await asyncio.to_thread(_requeue, folder, self._owner, died=False)

    async def _keep_house(self) -> None:
        """Cleans up the jobs of all libraries, now and every hour."""
        keep_days = self._settings.service.keep_jobs_days
        while True:
            for folder in await self._all_folders():
                try:
                    if await asyncio.to_thread(clean_up_jobs, folder, keep_days=keep_days):
                        self.notify(folder)
                except StoreError as error:
                    _log.warning("the jobs of %s can't be cleaned up: %s", folder, error)
            await asyncio.sleep(_HOUSEKEEPING_SECONDS)

    async def _all_folders(self) -> list[Path]:
        try:
            return sorted(set(await asyncio.to_thread(self._folders)))
        except PaperscopeError as error:
            _log.warning("%s", error)
            return []

    async def _run_workers(self) -> None:
        """Runs one worker after the other while there are jobs."""
        pause, clock = 0.0, asyncio.get_running_loop().time
        while True:
            await self._woken.wait()
            started = clock()
            await self._run_worker()
            # A worker that can't even start must not be restarted in a busy loop.
            short = clock() - started < _SHORT_LIFE_SECONDS
            pause = min(_MAX_PAUSE_SECONDS, 2 * pause or _FIRST_PAUSE_SECONDS) if short else 0.0
            if self._woken.is_set():
                await asyncio.sleep(pause)

    async def _run_worker(self) -> None:
        """Runs a worker until it ends, then requeues its jobs."""
        self._owner = f"worker-{secrets.token_hex(8)}"
        try:
            worker = await WorkerProcess.start(self._settings, owner=self._owner)
        except OSError as error:
            _log.warning("the worker for jobs can't be started (%s); trying again", error)
            return
        self._worker = worker
        for folder in self._notified:
            worker.notify(folder)
        code = await worker.wait(self._on_usage)
        if code != 0:
            reason = f"signal {-code}" if code < 0 else f"exit code {code}"
            _log.warning("the worker ended (%s); another one goes on with its jobs", reason)
        # From here on, notifications go to the next worker.
        folders, self._notified, self._worker = self._notified, set(), None
        self._woken.clear()
        for folder in folders:
            with suppress(StoreError):
                if await asyncio.to_thread(_requeue, folder, self._owner, died=True):
                    self.notify(folder)


def _requeue(folder: Path, owner: str, *, died: bool) -> bool:
    """Requeues the jobs of a worker that has ended; returns whether jobs are pending. Raises StoreError."""
    with closing(Store.open(folder)) as store:
        store.jobs.release(owner, died=died)
        requeue_orphans(store, folder)
        return has_pending_jobs(store)
