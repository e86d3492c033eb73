"""Reads uploads, and submits the jobs that they are for."""

import asyncio
import errno
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, TypeVar

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect

from graph_store import JobQueue
from paperscope_core.codec import to_json
from paperscope_core.types import Job, JobKind
from service.http.auth import CallerOf, LibraryOf, Service, ServiceOf
from service.http.problems import ProblemError
from service.http.views import JobView
from service.jobs.requests import AddRequest, BatchRequest, JobFiles

__all__ = [
    "UNLIMITED_BYTES",
    "JobSubmitter",
    "JobSubmitterOf",
    "document_upload",
    "is_form",
    "read_form",
    "read_json",
    "uploaded_file",
]


# What a route gives FastAPI as its limit when it limits its body here.
UNLIMITED_BYTES = 1 << 62

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
_MAX_FIELDS = 8
_FORM_OVERHEAD_BYTES = 100_000

Body = TypeVar("Body", bound=BaseModel)


def document_upload(
    kind: type[BaseModel], *, file: str, fields: Mapping[str, str] | None = None, example: Mapping[str, object]
) -> dict[str, Any]:
    """What the OpenAPI document says of a body that is a form with a file, or JSON of this kind in its place.

    `file` and the values of `fields`, the form's texts by their names, say what is meant by them.
    """
    texts = {name: {"type": "string", "description": about} for name, about in (fields or {}).items()}
    handed_over = {"type": "string", "format": "binary", "description": file}
    form = {"type": "object", "required": ["file"], "properties": {"file": handed_over, **texts}}
    json = {"schema": kind.model_json_schema(), "example": example}
    content = {"multipart/form-data": {"schema": form}, "application/json": json}
    return {"requestBody": {"required": True, "content": content}}


def is_form(request: Request) -> bool:
    """Whether the body is multipart, not JSON. Raises ProblemError where it is neither."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("multipart/form-data", "application/json"):
        return kind == "multipart/form-data"
    detail = f"The body is {kind or 'of no kind'!r}; send multipart/form-data with a file, or application/json."
    raise ProblemError(415, "unknown-body", detail)


@asynccontextmanager
async def read_form(request: Request, *, most: int) -> AsyncIterator[FormData]:
    """The parts of a multipart body, of whose one file no more than `most` bytes are taken; closed at the end."""
    stream = _limited(request, most + _FORM_OVERHEAD_BYTES, told=most)
    parser = MultiPartParser(request.headers, stream, max_files=1, max_fields=_MAX_FIELDS)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise ProblemError(400, "malformed-body", f"The multipart body can't be read: {error.message}") from error
    except OSError as error:
        if error.errno in _DISK_FULL:
            detail = "The service's disk is full, and nothing was kept; send it again when there is space."
            raise ProblemError(507, "disk-full", detail) from error
        raise
    try:
        yield form
    finally:
        await form.close()


async def read_json(request: Request, kind: type[Body], *, most: int) -> Body:
    """The JSON body, of at most so many bytes. Raises RequestValidationError, and ProblemError for a larger one."""
    data = b"".join([chunk async for chunk in _limited(request, most, told=most)])
    try:
        return await asyncio.to_thread(kind.model_validate_json, data)
    except ValidationError as error:
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from error


def uploaded_file(form: FormData) -> UploadFile:
    """The part `file` of a form. Raises RequestValidationError where it has none."""
    found = form.get("file")
    if isinstance(found, UploadFile):
        return found
    missing = {"type": "missing", "loc": ("body", "file"), "msg": "a part 'file' with a file name is required"}
    raise RequestValidationError([missing])


async def _limited(request: Request, most: int, *, told: int) -> AsyncGenerator[bytes, None]:
    """The body as it comes; refused before anything is read where it says that it is too long."""
    # The server has checked that it is a number.
    if int(request.headers.get("content-length", "0")) > most:
        raise _too_large(told)
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > most:
                raise _too_large(told)
            yield chunk
    except ClientDisconnect as error:
        raise ProblemError(400, "cut-off", "The body ended before its end; send it again.") from error


def _too_large(most: int) -> ProblemError:
    # The rest of it isn't read.
    return ProblemError(
        413, "too-large", f"The body is over the limit of {most / 1e6:g} MB.", headers={"Connection": "close"}
    )


_RETRY_SECONDS = 30


@dataclass(frozen=True, kw_only=True)
class JobSubmitter:
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


async def _job_submitter(service: ServiceOf, caller: CallerOf, library: LibraryOf) -> JobSubmitter:
    return JobSubmitter(service=service, folder=caller.library, jobs=library.jobs)


JobSubmitterOf = Annotated[JobSubmitter, Depends(_job_submitter)]
