"""Jobs: list, follow and cancel them."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from graph_store.job_queue import Job
from service.http.auth import LibraryOf, ServiceOf
from service.http.problems import error_text
from service.http.shutdown import shutdown_problem
from service.http.uploads import JobSubmitterOf
from service.http.views import JobView
from service.jobs.requests import JobFiles

__all__ = ["JobOf", "router"]

router = APIRouter(tags=["jobs"])

_POLL_SECONDS = 0.25
_JOB_PATTERN = r"^job-[0-9a-f]{24}$"


async def _job(library: LibraryOf, job: Annotated[str, Path(pattern=_JOB_PATTERN, description="the job's id")]) -> Job:
    return await asyncio.to_thread(library.jobs.get, job)


JobOf = Annotated[Job, Depends(_job)]


@router.get("/v1/jobs", summary="List the newest jobs")
async def list_jobs(library: LibraryOf, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> list[JobView]:
    """Return the library's jobs, newest first."""
    return [JobView.of(job) for job in await asyncio.to_thread(library.jobs.all, limit=limit)]


@router.get("/v1/jobs/{job}", summary="Show a job")
async def get_job(
    job: JobOf,
    library: LibraryOf,
    service: ServiceOf,
    wait: Annotated[float, Query(ge=0, le=60, description="wait up to so many seconds for its end")] = 0.0,
) -> JobView:
    """Return a job's progress and result."""
    clock = asyncio.get_running_loop().time
    deadline, begun = clock() + wait, service.shutdown.begun
    while not job.ended and not begun.is_set() and (remaining := deadline - clock()) > 0:
        await asyncio.sleep(min(_POLL_SECONDS, remaining))
        job = await asyncio.to_thread(library.jobs.get, job.id)
    return JobView.of(job)


@router.get("/v1/jobs/{job}/events", summary="Follow a job", response_class=EventSourceResponse)
async def follow_job(
    request: Request, job: JobOf, library: LibraryOf, service: ServiceOf
) -> AsyncGenerator[ServerSentEvent, None]:
    """Server-sent events with the whole job: `progress` whenever something has changed, and `end` when it has ended.

    If the service shuts down before, the last event is an `error` with a problem document; the job goes on when the
    service is started again."""
    while not job.ended:
        yield ServerSentEvent(event="progress", raw_data=JobView.of(job).model_dump_json())
        before = job
        while job == before:
            if service.shutdown.begun.is_set():
                yield ServerSentEvent(event="error", raw_data=error_text(request, shutdown_problem()))
                return
            await asyncio.sleep(_POLL_SECONDS)
            job = await asyncio.to_thread(library.jobs.get, job.id)
    yield ServerSentEvent(event="end", raw_data=JobView.of(job).model_dump_json())


@router.post("/v1/jobs/{job}/cancel", summary="Cancel a job")
async def cancel_job(job: JobOf, queue: JobSubmitterOf) -> JobView:
    """Cancel a queued job at once, a running one soon after; replies that were paid for are kept. A job
    that has ended does not change."""
    found = await asyncio.to_thread(queue.library.jobs.cancel, job.id)
    if found.ended and found.kind == "add":
        await asyncio.to_thread(JobFiles(queue.folder).delete, job.id)
    queue.service.jobs.notify(queue.folder)
    return JobView.of(found)
