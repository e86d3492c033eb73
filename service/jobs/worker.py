"""The worker: leases jobs of all libraries in turn and runs them."""

import asyncio
import hashlib
import logging
import os
import time
from contextlib import suppress
from pathlib import Path

import filelock

from graph_store import Store
from paperscope.library import Library, Stage
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import StoreError
from paperscope_core.settings import Settings
from service.batch.questions import parse_questions
from service.batch.rows import BatchRow
from service.batch.runner import BatchRunner
from service.jobs.housekeeping import WorkerLocks, has_pending_jobs
from service.jobs.leased_job import LeasedJob
from service.jobs.requests import AddJobResult, AddRequest, BatchRequest, JobFiles, open_without_links
from service.libraries import Libraries, current_work
from service.tracing import Tracing

__all__ = ["Worker", "data_mb", "delete_upload", "limit_memory", "resident_mb", "run_job"]


def limit_memory(megabytes: int) -> None:
    """Let this process hold so much data, and each that it starts; systems that can't limit it are left alone.

    Data, not the space of addresses: PyTorch reserves much of that and uses little.
    """
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 1_000_000, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        return


def resident_mb() -> float:
    """How much memory this process takes now, in megabytes; 0 where the system doesn't tell."""
    return _megabytes(1)


def data_mb() -> float:
    """How much of what `limit_memory` limits this process holds now, in megabytes; 0 where the system doesn't tell."""
    return _megabytes(5)


def _megabytes(column: int) -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[column])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000
    except (OSError, ValueError):
        return 0.0


# A worker that was stuck, and so lost its batch, is killed after a minute.
_FOLDER_LOCK_SECONDS = 120.0


async def run_job(held: LeasedJob, library: Library) -> str:
    """Do a job; its result as JSON text. Raises PaperscopeError."""
    current_work.set(held.job.kind)
    if held.job.kind == "add":
        return await _add(held, library)
    return await _answer(held, library)


def delete_upload(held: LeasedJob) -> None:
    """Delete what an add that has ended needs no more: the library keeps a copy of its own of what was handed over."""
    if held.ended and held.job.kind == "add":
        JobFiles(held.folder).discard(held.job.id)


async def _add(held: LeasedJob, library: Library) -> str:
    request = from_json(AddRequest, held.job.request)
    file = Path(request.path) if request.path else JobFiles(held.folder).folder(held.job.id) / request.upload
    # A link may come between at any time; of another file the hash is another.
    sha256 = await asyncio.to_thread(_hash_of, file) if request.path else None
    added = await library.add_async(
        file,
        name=None if request.path else request.name,
        replaces=request.replaces,
        sha256=sha256,
        password=held.secret or None,
        on_stage=held.tell,
    )
    return to_json(AddJobResult.of(added))


def _hash_of(file: Path) -> str:
    with open_without_links(file) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


async def _answer(held: LeasedJob, library: Library) -> str:
    request = from_json(BatchRequest, held.job.request)
    folder = JobFiles(held.folder).folder(held.job.id)
    questions = parse_questions((folder / request.file).read_bytes(), name=request.name)
    done: set[int] = set()

    def on_row(row: BatchRow) -> None:
        done.add(row.index)
        held.tell(Stage(name="answering", done=len(done), total=len(questions)))

    result = await BatchRunner(library, out=folder, patience=_FOLDER_LOCK_SECONDS).run_async(questions, on_row=on_row)
    return to_json(result.summary)


_POLL_SECONDS = 5.0
_IDLE_SECONDS = 300.0
_EXIT_STUCK = 70

_log = logging.getLogger(__name__)


class Worker:
    """Does the jobs of the libraries that it is woken for, as `owner`.

    Each library has its turn. A job of which a worker died is done alone, so that it takes no other with it again.
    """

    def __init__(self, *, settings: Settings, libraries: Libraries, tracing: Tracing, owner: str) -> None:
        self._at_once = settings.service.jobs_at_once
        self._roomy_mb = settings.service.worker_memory_mb / 2
        self._libraries = libraries
        self._tracing = tracing
        self._owner = owner
        self._fresh: set[Path] = set()
        # In the order of whose turn it is.
        self._watched: dict[Path, Store] = {}
        self._presences: dict[Path, filelock.BaseFileLock] = {}
        self._running: dict[asyncio.Task[None], LeasedJob] = {}
        self._woken = asyncio.Event()
        self._stopping = False
        self._idle_since = time.monotonic()

    def wake(self, folder: Path) -> None:
        """Look at a library's jobs: there are new ones, or one was cancelled."""
        self._fresh.add(folder)
        for held in self._running.values():
            if held.folder == folder:
                held.poke()
        self._woken.set()

    def stop(self) -> None:
        """Give up what runs, without blame, and let `run` end."""
        self._stopping = True
        self._woken.set()

    async def run(self) -> None:
        """Work until `stop`, or until there was nothing to do for a while, or too much memory is held to go on."""
        while not self._stopping and not self._is_spent():
            self._woken.clear()
            await self._watch()
            await self._fill()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), _POLL_SECONDS)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._put_back()

    def _is_spent(self) -> bool:
        if self._running:
            self._idle_since = time.monotonic()
            return False
        return resident_mb() > self._roomy_mb or time.monotonic() - self._idle_since > _IDLE_SECONDS

    async def _watch(self) -> None:
        """Open the queues of the libraries that it was woken for."""
        fresh, self._fresh = self._fresh, set()
        for folder in fresh - self._watched.keys():
            try:
                self._watched[folder] = await asyncio.to_thread(Store.open, folder)
                if folder not in self._presences:
                    self._presences[folder] = await asyncio.to_thread(WorkerLocks(folder).enter, self._owner)
            except StoreError as error:
                _log.warning("no jobs from %s: %s", folder, error)

    async def _fill(self) -> None:
        while self._has_room() and (held := await self._claim()) is not None:
            task = asyncio.create_task(self._do(held))
            self._running[task] = held
            task.add_done_callback(self._ended)

    def _has_room(self) -> bool:
        alone = any(held.job.attempts > 1 for held in self._running.values())
        spent = resident_mb() > self._roomy_mb and bool(self._running)
        return not self._stopping and not alone and not spent and len(self._running) < self._at_once

    async def _claim(self) -> LeasedJob | None:
        for folder, store in list(self._watched.items()):
            try:
                job = await asyncio.to_thread(store.jobs.claim, self._owner)
                done = job is None and not await asyncio.to_thread(has_pending_jobs, store)
            except StoreError as error:
                _log.warning("no jobs from %s: %s", folder, error)
                continue
            if done:
                self._watched.pop(folder).close()
            if job is not None:
                # The next turn is another library's.
                self._watched[folder] = self._watched.pop(folder)
                return LeasedJob(job, folder=folder, queue=store.jobs, owner=self._owner)
        return None

    async def _do(self, held: LeasedJob) -> None:
        try:
            await held.run(self._work(held))
            if held.stuck:
                await self._leave(held)
            await asyncio.to_thread(delete_upload, held)
        except StoreError as error:
            _log.warning("%s: %s", held.job.id, error)

    async def _work(self, held: LeasedJob) -> str:
        others = [task for task, other in self._running.items() if other is not held]
        if held.job.attempts > 1 and others:
            await asyncio.wait(others)
        async with self._libraries.use(held.folder) as library:
            with self._tracing.stages(held.job.kind) as traced:
                held.trace(traced)
                return await run_job(held, library)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task)
        self._woken.set()

    async def _leave(self, held: LeasedJob) -> None:
        """End the process, as work that was given up goes on in it; the other jobs go on in the next one."""
        _log.warning("%s does not stop; the worker is started anew", held.job.id)
        await held.end_as_cancelled()
        await asyncio.to_thread(delete_upload, held)
        await self._put_back()
        os._exit(_EXIT_STUCK)

    async def _put_back(self) -> None:
        """Leave all libraries, with nothing held."""
        for store in self._watched.values():
            try:
                await asyncio.to_thread(store.jobs.release, self._owner, died=False)
            except StoreError as error:
                _log.warning("%s", error)
        for folder, lock in self._presences.items():
            with suppress(StoreError):
                await asyncio.to_thread(WorkerLocks(folder).leave, lock)
