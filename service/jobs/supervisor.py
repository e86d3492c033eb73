"""The supervisor, in the service: runs worker processes while there are jobs, and requeues their jobs when they die.

The jobs of a worker that died go to the quarantine, from which another worker does them one at a time. So no job is
blamed for what another one did, and jobs outside the quarantine don't wait.

The password of a paper is in the memory of the supervisor and of its workers only, so no other one's take its job.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from typing import Protocol

import filelock

from graph_store import Store
from graph_store.job_queue import LEASE_SECONDS, PendingJobs
from graph_store.opening import is_library
from paperscope_core.errors import PaperscopeError, StoreError
from paperscope_core.locations import Location
from paperscope_core.settings import Settings
from service.jobs.housekeeping import WorkerLocks, clean_up_jobs, ended_jobs, requeue_orphans
from service.jobs.worker_process import WorkerProcess
from service.libraries import OnUsage

__all__ = ["JobRunner", "Supervisor"]

# Another service's worker, or one that died without its lock, loses its jobs within this time.
_HOUSEKEEPING_SECONDS = LEASE_SECONDS
# How soon a job of another process is found by a supervisor that watches for them.
_WATCH_SECONDS = 1.0
# A worker that ended sooner is restarted after a pause, which doubles each time.
_SHORT_LIFE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.5
_MAX_PAUSE_SECONDS = 30.0

_log = logging.getLogger(__name__)


class JobRunner(Protocol):
    """Does the jobs of libraries, here or in another process. For use on one event loop.

    Attributes:
        id: The name under which jobs are reserved for its workers.
        takes_jobs: Whether the settings let it take jobs; otherwise it does nothing.
    """

    id: str
    takes_jobs: bool

    def start(self) -> None:
        """Start to do jobs."""

    def notify(self, folder: Location) -> None:
        """Notify it of a library with a new or cancelled job."""

    async def keep_password(self, job: str, password: str, *, folder: Location) -> None:
        """Keep the password of a job in memory until the job has ended; the job is to be reserved for this `id`.

        Raises StoreError.
        """

    def forget_password(self, job: str) -> None:
        """Forget the password of a job, if it has one."""

    async def stop(self) -> None:
        """Queue the jobs in progress again, and ends."""


class Supervisor:
    """Runs worker processes while there are jobs; implements `JobRunner`.

    All methods belong to the event loop that `start` was called on.

    Args:
        folders: Returns the places of all libraries that may have jobs; it may raise PaperscopeError.
        on_usage: Called with each model call that a job causes.
        watch: Whether to look for jobs of other processes all the time, not only with the housekeeping.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        folders: Callable[[], Iterable[Location]],
        on_usage: OnUsage,
        watch: bool = False,
    ) -> None:
        self.id = f"service-{secrets.token_hex(8)}"
        self.takes_jobs = settings.service.jobs_at_once > 0
        self._watches = watch
        self._max_wait = settings.service.shutdown_seconds
        self._folders = folders
        # In memory only; with the library of each job.
        self._passwords: dict[str, tuple[Location, str]] = {}
        # Of the libraries with jobs that were reserved.
        self._locks: dict[Location, filelock.BaseFileLock] = {}
        self._locking = asyncio.Lock()
        self._normal, self._quarantine = (
            _WorkerLoop(
                settings,
                service=self.id,
                quarantine=quarantine,
                passwords=self._passwords,
                on_usage=on_usage,
                on_pending=self._notify_pending,
            )
            for quarantine in (False, True)
        )
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start housekeeping, which finds waiting jobs, and runs workers."""
        if self.takes_jobs:
            work = [self._keep_house(), self._normal.run(), self._quarantine.run()]
            self._tasks = [asyncio.create_task(one) for one in (*work, *([self._watch()] if self._watches else []))]

    def notify(self, folder: Location) -> None:
        """Notify the workers of a library with a new or cancelled job."""
        self._normal.notify(folder)
        self._quarantine.notify_running(folder)

    async def keep_password(self, job: str, password: str, *, folder: Location) -> None:
        """Keep the password of a job in memory, here and in the workers, until the job has ended.

        The job is to be reserved for this supervisor. Raises StoreError.
        """
        async with self._locking:
            if folder not in self._locks:
                self._locks[folder] = await asyncio.to_thread(WorkerLocks(folder).acquire, self.id)
        self._passwords[job] = (folder, password)
        self._normal.send_password(job, password)
        self._quarantine.send_password(job, password)

    def forget_password(self, job: str) -> None:
        """Forget the password of a job, if it has one."""
        self._passwords.pop(job, None)

    async def stop(self) -> None:
        """End the workers and requeue their jobs, which continue when the service is started again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(loop.stop(max_wait=self._max_wait) for loop in (self._normal, self._quarantine)))
        # A request in progress may still add one.
        for folder, lock in list(self._locks.items()):
            with suppress(StoreError):
                await asyncio.to_thread(_end_reservations, folder, self.id, lock)

    def _notify_pending(self, folder: Location, pending: PendingJobs) -> None:
        if pending.new:
            self._normal.notify(folder)
        if pending.quarantined:
            self._quarantine.notify(folder)

    async def _keep_house(self) -> None:
        """Clean up the jobs of all libraries, again and again."""
        while True:
            for folder in await self._all_folders():
                await self._clean_up(folder)
            await self._forget_passwords()
            await asyncio.sleep(_HOUSEKEEPING_SECONDS)

    async def _clean_up(self, folder: Location) -> None:
        try:
            pending = await asyncio.to_thread(clean_up_jobs, folder, service=self.id)
        except StoreError as error:
            _log.warning("the jobs of %s can't be cleaned up: %s", folder, error)
        else:
            self._notify_pending(folder, pending)

    async def _watch(self) -> None:
        """Notify the workers as soon as a library has jobs that other processes queued."""
        stores: dict[Location, Store] = {}
        known: dict[Location, PendingJobs] = {}
        try:
            while True:
                for folder in await self._all_folders():
                    with suppress(StoreError):
                        if folder not in stores and await asyncio.to_thread(is_library, folder):
                            stores[folder] = await asyncio.to_thread(Store.open, folder)
                        if store := stores.get(folder):
                            pending = await asyncio.to_thread(store.jobs.pending, service=self.id)
                            # A worker that runs looks for further jobs itself.
                            if pending != known.get(folder):
                                self._notify_pending(folder, pending)
                            known[folder] = pending
                await asyncio.sleep(_WATCH_SECONDS)
        finally:
            for store in stores.values():
                store.close()

    async def _forget_passwords(self) -> None:
        """Forget the passwords of jobs that have ended."""
        for folder in {folder for folder, _ in self._passwords.values()}:
            jobs = [job for job, (owner, _) in self._passwords.items() if owner == folder]
            with suppress(StoreError):
                for job in await asyncio.to_thread(ended_jobs, folder, jobs):
                    self.forget_password(job)

    async def _all_folders(self) -> list[Location]:
        try:
            return sorted(set(await asyncio.to_thread(self._folders)), key=str)
        except PaperscopeError as error:
            _log.warning("%s", error)
            return []


class _WorkerLoop:
    """Runs one worker after the other while there are jobs for it, in quarantine or outside it.

    Args:
        passwords: The passwords of jobs, which each worker gets.
        on_pending: Called with the pending jobs of a library whose worker has ended.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        service: str,
        quarantine: bool,
        passwords: Mapping[str, tuple[Location, str]],
        on_usage: OnUsage,
        on_pending: Callable[[Location, PendingJobs], None],
    ) -> None:
        self._settings = settings
        self._service = service
        self._is_quarantine = quarantine
        self._passwords = passwords
        self._on_usage = on_usage
        self._on_pending = on_pending
        self._notified: set[Location] = set()
        self._woken = asyncio.Event()
        self._worker: WorkerProcess | None = None
        self._owner = ""

    def notify(self, folder: Location) -> None:
        """Notify the worker of a library's jobs; starts one if none runs."""
        self._notified.add(folder)
        self._woken.set()
        self.notify_running(folder)

    def notify_running(self, folder: Location) -> None:
        """Notify the worker of a library's jobs if one runs."""
        if self._worker is not None:
            self._worker.notify(folder)

    def send_password(self, job: str, password: str) -> None:
        """Send a job's password to the worker if one runs."""
        if self._worker is not None:
            self._worker.send_password(job, password)

    async def run(self) -> None:
        """Run workers until it is cancelled."""
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

    async def stop(self, *, max_wait: float) -> None:
        """End the worker and requeue its jobs, after `run` was cancelled."""
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await worker.stop(max_wait=max_wait)
            # A request in progress may still add a library.
            for folder in list(self._notified):
                with suppress(StoreError):
                    await asyncio.to_thread(_requeue, folder, self._owner, died=False, service=self._service)

    async def _run_worker(self) -> None:
        """Run a worker until it ends, then requeue its jobs."""
        self._owner = f"worker-{secrets.token_hex(8)}"
        try:
            worker = await WorkerProcess.start(
                self._settings, owner=self._owner, service=self._service, quarantine=self._is_quarantine
            )
        except OSError as error:
            _log.warning("the worker for jobs can't be started (%s); trying again", error)
            return
        self._worker = worker
        for job, (_, password) in self._passwords.items():
            worker.send_password(job, password)
        for folder in self._notified:
            worker.notify(folder)
        code = await worker.wait(self._on_usage)
        if code != 0:
            reason = f"signal {-code}" if code < 0 else f"exit code {code}"
            _log.warning("the worker ended (%s); its jobs are tried again one at a time", reason)
        # From here on, notifications go to the next worker.
        folders, self._notified, self._worker = self._notified, set(), None
        self._woken.clear()
        for folder in folders:
            with suppress(StoreError):
                pending = await asyncio.to_thread(_requeue, folder, self._owner, died=True, service=self._service)
                self._on_pending(folder, pending)


def _requeue(folder: Location, owner: str, *, died: bool, service: str) -> PendingJobs:
    """Requeue the jobs of a worker that has ended; returns which jobs are pending for a service. Raises StoreError."""
    with closing(Store.open(folder)) as store:
        store.jobs.release(owner, died=died)
        requeue_orphans(store, folder)
        return store.jobs.pending(service=service)


def _end_reservations(folder: Location, service: str, lock: filelock.BaseFileLock) -> None:
    """Let other workers take what was reserved for a service that ends: they report that its password is lost."""
    with closing(Store.open(folder)) as store:
        store.jobs.end_reservations(service)
    WorkerLocks(folder).release(lock)
