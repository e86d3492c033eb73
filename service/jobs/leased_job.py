"""A job on which a worker holds a lease: it is renewed, cancelled on request, and finished in the queue."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from graph_store import JobQueue
from graph_store.job_queue import Job, JobState
from paperscope.library import Stage
from paperscope_core.errors import JobLostError, PaperscopeError, StoreError, StoreUnavailableError
from paperscope_core.locations import Location
from service.logs import event_log

__all__ = ["LeasedJob"]

# The shortest interval between writes of progress, and the longest until the end of the work is noticed.
_POLL_SECONDS = 0.5
# Well within a lease (`LEASE_SECONDS` of the queue).
_RENEW_SECONDS = 5.0
# How long cancelled work may take to stop: longer than the child process that parses a file takes to be killed.
_CANCEL_TIMEOUT_SECONDS = 8.0
# With exponential backoff from 1 s: half a minute.
_WRITE_ATTEMPTS = 6

_log = logging.getLogger(__name__)
_events = event_log(__name__)


class LeasedJob:
    """A job that the worker `owner` has leased.

    Attributes:
        ended: Whether the job has ended in the queue.
        stuck: Whether its work continues although it was cancelled.
    """

    def __init__(self, job: Job, *, folder: Location, queue: JobQueue, owner: str) -> None:
        self.job = job
        self.folder = folder
        self.ended = self.stuck = False
        self._queue = queue
        self._owner = owner
        self._stage = Stage(name="starting")
        self._written_stage: Stage | None = None
        self._renewed = 0.0
        self._started = time.monotonic()
        self._cancelling = False

    def report(self, stage: Stage) -> None:
        """Set the progress of the work, from any thread. A stage that can't be counted keeps the counts before it."""
        if not stage.total:
            stage = replace(stage, done=self._stage.done, total=self._stage.total)
        self._stage = stage

    def renew_soon(self) -> None:
        """Renew the lease at the next poll, which also shows whether the job was cancelled."""
        self._renewed = 0.0

    async def run(self, work: Coroutine[Any, Any, str]) -> None:
        """Do the work, whose result is the job's, and finish the job.

        If this is cancelled, the job stays leased by its owner.
        """
        task = asyncio.create_task(work)
        try:
            while not task.done():
                if await self._renew():
                    await self._cancel(task)
                    break
                await asyncio.wait({task}, timeout=_POLL_SECONDS)
            await self._renew()
        except asyncio.CancelledError:
            await self._cancel(task)
            raise
        except JobLostError as error:
            _log.warning("%s: %s", self.job.id, error)
            await self._cancel(task)
            return
        if not self.stuck:
            await self._finish_with(task)

    async def finish_cancelled(self) -> None:
        """Finish the job as cancelled although its work may still continue."""
        await self._finish("cancelled")

    async def _renew(self) -> bool:
        """Renew the lease if it is due or there is progress; return whether the job is being cancelled."""
        now, stage = time.monotonic(), self._stage
        if stage == self._written_stage and now - self._renewed < _RENEW_SECONDS:
            return False
        self._renewed, self._written_stage = now, stage
        try:
            job = await asyncio.to_thread(
                self._queue.renew, self.job.id, self._owner, stage=stage.name, done=stage.done, total=stage.total
            )
        except JobLostError:
            raise
        except StoreError as error:
            # A disk that is briefly full must not end the work.
            _log.warning("%s: %s", self.job.id, error)
            return False
        self._cancelling = job.cancelling
        return job.cancelling

    async def _cancel(self, task: "asyncio.Task[str]") -> None:
        task.cancel()
        await asyncio.wait({task}, timeout=_CANCEL_TIMEOUT_SECONDS)
        self.stuck = not task.done()

    async def _finish_with(self, task: "asyncio.Task[str]") -> None:
        if task.cancelled() and self._cancelling:
            await self._finish("cancelled")
        elif task.cancelled():
            await self._finish("failed", error="the work was cancelled from within the worker; send it again")
        elif isinstance(error := task.exception(), StoreUnavailableError):
            await self._give_back(error)
        elif error:
            await self._finish("failed", error=self._message(error))
        else:
            await self._finish("succeeded", result=task.result())

    def _message(self, error: BaseException) -> str:
        """Return the message of an error that callers may read."""
        if isinstance(error, PaperscopeError):
            if error.where:
                _events.warning("failed", job=self.job.id, problem=type(error).__name__, where=error.where)
            return error.public
        if isinstance(error, MemoryError):
            return "it took more memory than limits.memory_mb allows; raise that, or send less at once"
        _log.error("%s failed with an unexpected error", self.job.id, exc_info=error)
        return f"an unexpected error occurred ({type(error).__name__}); the service's log has the details"

    async def _give_back(self, error: StoreUnavailableError) -> None:
        """Queue the job again, in quarantine: what it stores may be why the library's server ended."""
        _events.warning("queued again", job=self.job.id, problem=error.public, where=error.where)
        await self._write(partial(self._queue.release, self._owner, died=True, job=self.job.id))

    async def _finish(self, state: JobState, *, result: str = "", error: str = "") -> None:
        finish = partial(self._queue.finish, self.job.id, self._owner, state=state, result=result, error=error)
        self.ended = await self._write(finish)
        if self.ended:
            seconds = round(time.monotonic() - self._started, 3)
            _events.info("job", job=self.job.id, kind=self.job.kind, state=state, seconds=seconds)

    async def _write(self, change: Callable[[], object]) -> bool:
        """Change the job in the queue; return whether that was possible.

        Retries while the library can't be written, because an expired lease would repeat the work.
        """
        for attempt in range(_WRITE_ATTEMPTS):
            if attempt:
                await asyncio.sleep(2.0 ** (attempt - 1))
            try:
                await asyncio.to_thread(change)
            except JobLostError as lost:
                _log.warning("%s: %s", self.job.id, lost)
                return False
            except StoreError as failure:
                _log.warning("%s: %s", self.job.id, failure)
            else:
                return True
        return False
