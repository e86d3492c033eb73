"""The worker: leases jobs of all libraries in turn and does several at a time."""

import asyncio
import itertools
import logging
import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import filelock

from graph_store import Store
from paperscope.library import Library, Stage
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import PaperLockedError, StoreError
from paperscope_core.locations import Location
from paperscope_core.settings import Settings
from paperscope_core.types import PaperEntry, PaperFile
from service.jobs.housekeeping import WorkerLocks
from service.jobs.leased_job import LeasedJob
from service.jobs.requests import (
    AddResult,
    BatchRequest,
    JobFiles,
    PaperJob,
    TableRequest,
    TableResult,
    read_without_links,
)
from service.libraries import Libraries, current_work

if TYPE_CHECKING:
    from service.batch import BatchRow

__all__ = ["Worker", "data_mb", "limit_memory"]

# The interval at which jobs with lost notifications are found.
_POLL_SECONDS = 5.0
# An idle worker frees the memory of its models.
_IDLE_SECONDS = 300.0
_QUARANTINE_IDLE_SECONDS = 5.0
_EXIT_STUCK = 70
# A password is sent before its job is in the queue, but another thread receives it.
_PASSWORD_TIMEOUT_SECONDS = 5.0
# A worker that is stuck, and so has lost its batch, is killed after a minute.
_FOLDER_LOCK_TIMEOUT_SECONDS = 120.0
# Columns of /proc/self/statm, in pages.
_STATM_RESIDENT, _STATM_DATA = 1, 5

_log = logging.getLogger(__name__)


class Worker:
    """Does the jobs of the libraries that it is notified of, as `owner`, a worker of `service`.

    Libraries take turns, and as many jobs again run of libraries of which none else runs, so that no library waits
    until the long jobs of another one have ended. In `quarantine`, the worker does only jobs during which a worker
    died, each alone, so that none can bring down another one.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        libraries: Libraries,
        owner: str,
        service: str = "",
        quarantine: bool = False,
    ) -> None:
        self._max_jobs = 1 if quarantine else settings.service.jobs_at_once
        self._idle_seconds = _QUARANTINE_IDLE_SECONDS if quarantine else _IDLE_SECONDS
        self._quarantine = quarantine
        self._max_file_bytes = settings.limits.max_file_mb * 1_000_000
        # Above half of its memory, the worker takes no further job and exits when it is idle.
        self._max_resident_mb = settings.limits.memory_mb / 2
        self._libraries = libraries
        self._owner = owner
        self._service = service
        self._notified: set[Location] = set()
        self._passwords: dict[str, str] = {}
        self._password_received = asyncio.Event()
        # In the order of their turns.
        self._stores: dict[Location, Store] = {}
        self._locks: dict[Location, filelock.BaseFileLock] = {}
        self._running: dict[asyncio.Task[None], LeasedJob] = {}
        self._woken = asyncio.Event()
        self._stopping = False
        self._idle_since = time.monotonic()

    def notify(self, folder: Location) -> None:
        """Check a library's jobs, of which one is new or was cancelled."""
        self._notified.add(folder)
        for leased in self._running.values():
            if leased.folder == folder:
                leased.renew_soon()
        self._woken.set()

    def receive_password(self, job: str, password: str) -> None:
        """Keep the password that came with a job."""
        self._passwords[job] = password
        self._password_received.set()

    def stop(self) -> None:
        """Requeue the running jobs, and lets `run` return."""
        self._stopping = True
        self._woken.set()

    async def run(self) -> None:
        """Work until `stop` is called, or until the worker has been idle too long or has used too much memory."""
        while not self._stopping and not self._should_exit():
            self._woken.clear()
            await self._open_stores()
            await self._start_jobs()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), _POLL_SECONDS)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._release_all()

    def _should_exit(self) -> bool:
        if self._running:
            self._idle_since = time.monotonic()
            return False
        return self._is_over_memory() or time.monotonic() - self._idle_since > self._idle_seconds

    def _is_over_memory(self) -> bool:
        return _statm_mb(_STATM_RESIDENT) > self._max_resident_mb

    async def _open_stores(self) -> None:
        """Open the stores of the libraries that the worker was notified of."""
        notified, self._notified = self._notified, set()
        for folder in notified - self._stores.keys():
            try:
                self._stores[folder] = await asyncio.to_thread(Store.open, folder)
                if folder not in self._locks:
                    self._locks[folder] = await asyncio.to_thread(WorkerLocks(folder).acquire, self._owner)
            except StoreError as error:
                _log.warning("no jobs from %s: %s", folder, error)

    async def _start_jobs(self) -> None:
        while not self._stopping and (leased := await self._lease()) is not None:
            task = asyncio.create_task(self._run(leased))
            self._running[task] = leased
            task.add_done_callback(self._on_done)

    def _has_capacity(self, folder: Location) -> bool:
        """Return whether a job of this library may start."""
        if not self._running or self._quarantine:
            return not self._running
        has_none = all(leased.folder != folder for leased in self._running.values())
        return len(self._running) < self._max_jobs * (2 if has_none else 1) and not self._is_over_memory()

    async def _lease(self) -> LeasedJob | None:
        """Return the next job, from the libraries in turn."""
        for folder, store in list(self._stores.items()):
            if not self._has_capacity(folder):
                continue
            try:
                job = await asyncio.to_thread(
                    store.jobs.claim, self._owner, quarantined=self._quarantine, service=self._service
                )
                done = job is None and not await asyncio.to_thread(self._is_needed, store)
            except StoreError as error:
                _log.warning("no jobs from %s: %s", folder, error)
                continue
            if done:
                self._stores.pop(folder).close()
            if job is not None:
                # The next turn is another library's.
                self._stores[folder] = self._stores.pop(folder)
                return LeasedJob(job, folder=folder, queue=store.jobs, owner=self._owner)
        return None

    def _is_needed(self, store: Store) -> bool:
        """Return whether the store has jobs for this worker, now or if another worker gives its jobs back."""
        pending = store.jobs.pending(service=self._service)
        return pending.running or (pending.quarantined if self._quarantine else pending.new)

    async def _run(self, leased: LeasedJob) -> None:
        try:
            await leased.run(self._work(leased))
            if leased.stuck:
                await self._exit_stuck(leased)
            await asyncio.to_thread(_delete_upload, leased)
        except StoreError as error:
            _log.warning("%s: %s", leased.job.id, error)

    async def _work(self, leased: LeasedJob) -> str:
        current_work.set(leased.job.kind)
        do = {"add": self._add, "batch": _answer, "table": _fill}[leased.job.kind]
        async with self._libraries.use(leased.folder) as library:
            return await do(leased, library)

    async def _add(self, leased: LeasedJob, library: Library) -> str:
        request = from_json(PaperJob, leased.job.request)
        password = await self._password(leased.job.id) if request.with_password else None
        if request.path:
            read = partial(read_without_links, Path(request.path), max_bytes=self._max_file_bytes)
            file = PaperFile(Path(request.path), password=password, content=await asyncio.to_thread(read))
        else:
            file = PaperFile(JobFiles(leased.folder).folder(leased.job.id) / request.upload, password=password)
        name = None if request.path else request.name
        try:
            added = await library.add_async(file, name=name, replaces=request.replaces, on_stage=leased.report)
        except PaperLockedError as error:
            if request.with_password and password is None:
                raise PaperLockedError(
                    f"{request.name!r}: the service was restarted, and it keeps passwords in memory only; send the "
                    "paper again with its password"
                ) from error
            raise
        return to_json(AddResult.of(added))

    async def _password(self, job: str) -> str | None:
        """Return the password that came with a job; None if the service was restarted since."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PASSWORD_TIMEOUT_SECONDS):
                while job not in self._passwords:
                    self._password_received.clear()
                    await self._password_received.wait()
        return self._passwords.pop(job, None)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task)
        self._woken.set()

    async def _exit_stuck(self, leased: LeasedJob) -> None:
        """Exit the process, because a thread of the cancelled job never ends; the next worker does the other jobs."""
        _log.warning("%s does not stop; the worker is restarted", leased.job.id)
        await leased.finish_cancelled()
        await asyncio.to_thread(_delete_upload, leased)
        await self._release_all()
        os._exit(_EXIT_STUCK)

    async def _release_all(self) -> None:
        """Requeue all leased jobs and release the locks."""
        for store in self._stores.values():
            try:
                await asyncio.to_thread(store.jobs.release, self._owner, died=False)
            except StoreError as error:
                _log.warning("%s", error)
        for folder, lock in self._locks.items():
            with suppress(StoreError):
                await asyncio.to_thread(WorkerLocks(folder).release, lock)


async def _answer(leased: LeasedJob, library: Library) -> str:
    # Only batches need what answers and scores questions.
    from service.batch import BatchRunner, parse_questions

    request = from_json(BatchRequest, leased.job.request)
    folder = JobFiles(leased.folder).folder(leased.job.id)
    questions = parse_questions((folder / request.file).read_bytes(), name=request.name)
    done: set[int] = set()

    def on_row(row: "BatchRow") -> None:
        done.add(row.index)
        leased.report(Stage(name="answering", done=len(done), total=len(questions)))

    runner = BatchRunner(library, out=folder, lock_timeout=_FOLDER_LOCK_TIMEOUT_SECONDS)
    return to_json((await runner.run_async(questions, on_row=on_row)).summary)


async def _fill(leased: LeasedJob, library: Library) -> str:
    request = from_json(TableRequest, leased.job.request)
    total = len((await asyncio.to_thread(lambda: library.tables.get(request.table))).papers)
    done = itertools.count(1)

    def on_paper(_paper: PaperEntry, _reason: str) -> None:
        leased.report(Stage(name="filling", done=next(done), total=total))

    filled = await library.fill_table_async(request.table, on_paper=on_paper)
    result = TableResult(table=filled.id, papers=len(filled.papers), failures=filled.failures, usage=filled.usage)
    return to_json(result)


def _delete_upload(leased: LeasedJob) -> None:
    """Delete the upload of an add that has ended; the library keeps its own copy."""
    if leased.ended and leased.job.kind == "add":
        JobFiles(leased.folder).delete(leased.job.id)


def limit_memory(megabytes: int) -> None:
    """Limit the data that this process, and each process that it starts, may allocate, if the platform supports it.

    The limit is on data, not on address space, because PyTorch reserves far more than it uses.
    """
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 1_000_000, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        return


def data_mb() -> float:
    """Return the allocated data that `limit_memory` limits, in megabytes; 0 if the platform doesn't report it."""
    return _statm_mb(_STATM_DATA)


def _statm_mb(column: int) -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[column])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000
    except (OSError, ValueError):
        return 0.0
