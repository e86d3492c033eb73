"""The way of a job into the queue: what is handed over is on the disk before its job is, and both before the answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO

from fastapi import Depends, Response

from graph_store import JobQueue
from paperscope.codec import to_json
from paperscope.types import Job, JobKind
from service.http.access import CallerOf, LibraryOf, Service, ServiceOf
from service.http.job_view import JobView
from service.http.problems import ProblemError
from service.job_files import JobFiles
from service.jobs import AddRequest, BatchRequest

__all__ = ["Queue", "QueueOf"]

_RETRY_SECONDS = 30


@dataclass(frozen=True, kw_only=True)
class Queue:
    """The queue of the caller's library."""

    service: Service
    folder: Path
    jobs: JobQueue

    async def check_room(self) -> None:
        """Raise ProblemError (429) where too many jobs wait; before a body is read."""
        most = self.service.settings.service.jobs_waiting
        if (await asyncio.to_thread(self.jobs.counts)).get("queued", 0) >= most:
            detail = f"{most} jobs of this library wait already; send it again when some are done."
            raise ProblemError(429, "too-many-jobs", detail, headers={"Retry-After": str(_RETRY_SECONDS)})

    async def add(self, request: AddRequest, response: Response, *, secret: str = "") -> JobView:
        """Queue an add that needs no file."""
        job = await asyncio.to_thread(self.jobs.create, "add", to_json(request), secret=secret)
        return self._accepted(job, response)

    async def hand_over(
        self,
        data: BinaryIO,
        response: Response,
        *,
        name: str,
        request: Callable[[str], AddRequest | BatchRequest],
        secret: str = "",
    ) -> JobView:
        """Keep a file that was handed over as `name`, and queue the job whose request, given the file's name among its
        files, `request` makes."""
        return self._accepted(await asyncio.to_thread(self._keep, data, name, request, secret), response)

    def _keep(self, data: BinaryIO, name: str, request: Callable[[str], AddRequest | BatchRequest], secret: str) -> Job:
        files, job = JobFiles(self.folder), JobQueue.new_id()
        made = request(files.put(job, data, stem="handed-over", name=name).name)
        kind: JobKind = "add" if isinstance(made, AddRequest) else "batch"
        try:
            return self.jobs.create(kind, to_json(made), secret=secret, job=job)
        except BaseException:
            files.discard(job)
            raise

    def _accepted(self, job: Job, response: Response) -> JobView:
        self.service.workers.wake(self.folder)
        response.headers["Location"] = f"/v1/jobs/{job.id}"
        return JobView.of(job)


async def _queue(service: ServiceOf, caller: CallerOf, library: LibraryOf) -> Queue:
    return Queue(service=service, folder=caller.library, jobs=library.jobs)


QueueOf = Annotated[Queue, Depends(_queue)]
