"""In the worker: takes jobs of all libraries in turns and does some at once."""

import asyncio
import logging
import os
import time
from contextlib import suppress
from pathlib import Path

import filelock

from graph_store import Store
from paperscope.errors import StoreError
from paperscope.settings import Settings
from service.libraries import Libraries
from service.presence import Presence
from service.tending import has_work
from service.tracing import Tracing
from service.worker.held import Held
from service.worker.memory import resident_mb
from service.worker.work import clear_up, do

__all__ = ["Runner"]

_LOOK_SECONDS = 5.0
_IDLE_SECONDS = 300.0
_STUCK = 70

_log = logging.getLogger(__name__)


class Runner:
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
        self._running: dict[asyncio.Task[None], Held] = {}
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
                await asyncio.wait_for(self._woken.wait(), _LOOK_SECONDS)
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
                    self._presences[folder] = await asyncio.to_thread(Presence(folder).enter, self._owner)
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

    async def _claim(self) -> Held | None:
        for folder, store in list(self._watched.items()):
            try:
                job = await asyncio.to_thread(store.jobs.claim, self._owner)
                done = job is None and not await asyncio.to_thread(has_work, store)
            except StoreError as error:
                _log.warning("no jobs from %s: %s", folder, error)
                continue
            if done:
                self._watched.pop(folder).close()
            if job is not None:
                # The next turn is another library's.
                self._watched[folder] = self._watched.pop(folder)
                return Held(job, folder=folder, queue=store.jobs, owner=self._owner)
        return None

    async def _do(self, held: Held) -> None:
        try:
            await held.run(self._work(held))
            if held.stuck:
                await self._leave(held)
            await asyncio.to_thread(clear_up, held)
        except StoreError as error:
            _log.warning("%s: %s", held.job.id, error)

    async def _work(self, held: Held) -> str:
        others = [task for task, other in self._running.items() if other is not held]
        if held.job.attempts > 1 and others:
            await asyncio.wait(others)
        async with self._libraries.use(held.folder) as library:
            with self._tracing.stages(held.job.kind) as traced:
                held.trace(traced)
                return await do(held, library)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task)
        self._woken.set()

    async def _leave(self, held: Held) -> None:
        """End the process, as work that was given up goes on in it; the other jobs go on in the next one."""
        _log.warning("%s does not stop; the worker is started anew", held.job.id)
        await held.end_as_cancelled()
        await asyncio.to_thread(clear_up, held)
        await self._put_back()
        os._exit(_STUCK)

    async def _put_back(self) -> None:
        """Leave all libraries, with nothing held."""
        for store in self._watched.values():
            try:
                await asyncio.to_thread(store.jobs.release, self._owner, died=False)
            except StoreError as error:
                _log.warning("%s", error)
        for folder, lock in self._presences.items():
            with suppress(StoreError):
                await asyncio.to_thread(Presence(folder).leave, lock)
