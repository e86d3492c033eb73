"""Starts the worker process when there are jobs, and restarts it when it dies."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from graph_store import Store
from paperscope_core.errors import PaperscopeError, StoreError
from paperscope_core.settings import Settings
from service.jobs.housekeeping import has_pending_jobs, housekeep, requeue_orphans
from service.jobs.worker_process import WorkerProcess
from service.libraries import OnUsage

__all__ = ["Supervisor"]


_HOUSEKEEPING_SECONDS = 3600.0
_SHORT_LIFE_SECONDS = 10.0
_MAX_RESTART_PAUSE_SECONDS = 30.0

_log = logging.getLogger(__name__)


class Supervisor:
    """Keeps a worker at work while there are jobs. `known` gives the folders of all libraries that may have some,
    `on_spent` hears of the model calls that jobs cause.

    All methods belong to the loop that `start` was called on.
    """

    def __init__(self, settings: Settings, *, known: Callable[[], Iterable[Path]], on_spent: OnUsage) -> None:
        self._settings = settings
        self._on_spent = on_spent
        self._known = known
        self._folders: set[Path] = set()
        self._woken = asyncio.Event()
        self._worker: WorkerProcess | None = None
        self._owner = ""
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Look for jobs that wait, and begin."""
        self._tasks = [asyncio.create_task(self._tend()), asyncio.create_task(self._attend())]

    def wake(self, folder: Path) -> None:
        """Tell the worker that there is a new job in this library, or one that was cancelled."""
        self._folders.add(folder)
        self._woken.set()
        if self._worker is not None:
            self._worker.wake(folder)

    @property
    def worker(self) -> int | None:
        """The process id of the worker, None while there is none."""
        return self._worker.id if self._worker else None

    async def stop(self) -> None:
        """End the worker; the jobs that it held are put back, and go on when the service is started again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await worker.stop(within=self._settings.service.shutdown_seconds)
            # A request that is under way may bring another one.
            for folder in list(self._folders):
                with suppress(StoreError):
                    await asyncio.to_thread(_requeue, folder, self._owner, died=False)

    async def _tend(self) -> None:
        """See to all libraries, now and every hour."""
        days = self._settings.service.keep_jobs_days
        while True:
            for folder in await self._libraries():
                try:
                    if await asyncio.to_thread(housekeep, folder, keep_days=days):
                        self.wake(folder)
                except StoreError as error:
                    _log.warning("the jobs of %s can't be looked through: %s", folder, error)
            await asyncio.sleep(_HOUSEKEEPING_SECONDS)

    async def _libraries(self) -> list[Path]:
        try:
            return sorted(set(await asyncio.to_thread(self._known)))
        except PaperscopeError as error:
            _log.warning("%s", error)
            return []

    async def _attend(self) -> None:
        """Have a worker as long as there is something to do."""
        pause, clock = 0.0, asyncio.get_running_loop().time
        while True:
            await self._woken.wait()
            begun = clock()
            await self._one_life()
            # A worker that can't even start must not be started without end.
            pause = min(_MAX_RESTART_PAUSE_SECONDS, 2 * pause or 0.5) if clock() - begun < _SHORT_LIFE_SECONDS else 0.0
            if self._woken.is_set():
                await asyncio.sleep(pause)

    async def _one_life(self) -> None:
        """The life of a worker, from its start until its jobs are put back."""
        self._owner = f"worker-{secrets.token_hex(8)}"
        try:
            worker = await WorkerProcess.start(self._settings, owner=self._owner)
        except OSError as error:
            _log.warning("no worker for jobs can be started (%s); trying again", error)
            return
        self._worker = worker
        for folder in self._folders:
            worker.wake(folder)
        code = await worker.ended(self._on_spent)
        if code != 0:
            _log.warning("the worker ended (%s); its jobs go on with another one", _reason(code))
        # Who is woken from here on is looked after by the next one.
        folders, self._folders, self._worker = self._folders, set(), None
        self._woken.clear()
        for folder in folders:
            with suppress(StoreError):
                if await asyncio.to_thread(_requeue, folder, self._owner, died=True):
                    self.wake(folder)


def _requeue(folder: Path, owner: str, *, died: bool) -> bool:
    """Put back the jobs of a worker that has ended; tell whether there is work to do. Raises StoreError."""
    store = Store.open(folder)
    try:
        store.jobs.release(owner, died=died)
        requeue_orphans(store, folder)
        return has_pending_jobs(store)
    finally:
        store.close()


def _reason(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
