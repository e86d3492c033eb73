"""A job that a worker holds a lease on."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from graph_store import JobQueue
from paperscope.library import Stage
from paperscope_core.errors import JobLostError, PaperscopeError, StoreError
from paperscope_core.types import Job, JobState
from service.logs import event_log

__all__ = ["LeasedJob"]


_POLL_SECONDS = 0.5
_RENEW_SECONDS = 5.0
_GRACE_SECONDS = 8.0
_FINISH_ATTEMPTS = 5
_STOPPED = "it was stopped from inside; send it again"

_log = logging.getLogger(__name__)
_events = event_log(__name__)


class LeasedJob:
    """A job that this worker holds as `owner`.

    `ended` tells that the job has ended in the queue, `stuck` that its work does not end though it was cancelled.
    """

    def __init__(self, job: Job, *, folder: Path, queue: JobQueue, owner: str) -> None:
        self.job = job
        self.folder = folder
        self.ended = self.stuck = False
        self._queue = queue
        self._owner = owner
        self._stage = Stage(name="starting")
        self._told: Stage | None = None
        self._renewed = 0.0
        self._begun = time.monotonic()
        self._cancelling = False
        self._on_stage: Callable[[str], None] = _ignore

    def tell(self, stage: Stage) -> None:
        """Say how far the work is, from any thread; at most twice a second it is written."""
        if stage.name != self._stage.name:
            self._on_stage(stage.name)
        self._stage = stage

    def trace(self, on_stage: Callable[[str], None]) -> None:
        """Let each stage be told as it begins."""
        self._on_stage = on_stage

    def poke(self) -> None:
        """Look soon whether the job was cancelled."""
        self._renewed = 0.0

    @property
    def secret(self) -> str:
        """The password that came with the job. Raises JobLostError."""
        return self._queue.secret(self.job.id, self._owner)

    async def run(self, work: Coroutine[Any, Any, str]) -> None:
        """Do the work, whose result is the job's, and end the job. Cancelled, the job stays this worker's."""
        task = asyncio.create_task(work)
        try:
            while not task.done():
                if await self._renew():
                    await self._give_up(task)
                    break
                await asyncio.wait({task}, timeout=_POLL_SECONDS)
            await self._renew()
        except asyncio.CancelledError:
            await self._give_up(task)
            raise
        except JobLostError as error:
            _log.warning("%s: %s", self.job.id, error)
            await self._give_up(task)
            return
        if not self.stuck:
            await self._end(task)

    async def end_as_cancelled(self) -> None:
        """End the job though its work may go on for a moment."""
        await self._finish("cancelled")

    async def _renew(self) -> bool:
        """Keep the job where it is time, or where there is news; tell whether it is to be given up."""
        now, stage = time.monotonic(), self._stage
        if stage == self._told and now - self._renewed < _RENEW_SECONDS:
            return False
        self._renewed, self._told = now, stage
        try:
            job = await asyncio.to_thread(
                self._queue.renew, self.job.id, self._owner, stage=stage.name, done=stage.done, total=stage.total
            )
        except JobLostError:
            raise
        except StoreError as error:
            # A disk that is full for a moment must not end the work.
            _log.warning("%s: %s", self.job.id, error)
            return False
        self._cancelling = job.cancelling
        return job.cancelling

    async def _give_up(self, task: "asyncio.Task[str]") -> None:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE_SECONDS)
        self.stuck = not task.done()

    async def _end(self, task: "asyncio.Task[str]") -> None:
        if task.cancelled():
            await self._finish("cancelled" if self._cancelling else "failed", error=_STOPPED)
            return
        error = task.exception()
        if error is None:
            await self._finish("succeeded", result=task.result())
        else:
            await self._finish("failed", error=self._explained(error))

    def _explained(self, error: BaseException) -> str:
        if isinstance(error, PaperscopeError):
            if error.where:
                _events.warning("failed", job=self.job.id, problem=type(error).__name__, where=error.where)
            return error.public
        if isinstance(error, MemoryError):
            return "it took more memory than service.worker_memory_mb allows; raise that, or send less at once"
        _log.error("%s failed inside", self.job.id, exc_info=error)
        return f"something went wrong inside ({type(error).__name__}); the service's log has the details"

    async def _finish(self, state: JobState, *, result: str = "", error: str = "") -> None:
        """End the job; where the library can't be written, try for a while: its lease would run out, and it would be
        done again."""
        reason = error if state == "failed" else ""
        for attempt in range(_FINISH_ATTEMPTS):
            try:
                await asyncio.to_thread(
                    self._queue.finish, self.job.id, self._owner, state=state, result=result, error=reason
                )
            except JobLostError as lost:
                _log.warning("%s: %s", self.job.id, lost)
                return
            except StoreError as failure:
                _log.warning("%s: %s", self.job.id, failure)
                await asyncio.sleep(2.0**attempt)
            else:
                self.ended = True
                seconds = round(time.monotonic() - self._begun, 3)
                _events.info("job", job=self.job.id, kind=self.job.kind, state=state, seconds=seconds)
                return


def _ignore(_stage: str) -> None:
    return
