"""Reads uploads within their size limits, and submits the jobs that they are for.

FastAPI would read such a body before it knows the caller, so a route reads it here, after its dependencies.
"""

import asyncio
import errno
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO, TypeVar

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect

from graph_store import JobQueue
from graph_store.job_queue import Job, JobKind
from paperscope_core.codec import to_json
from paperscope_core.locations import Location
from service.http.auth import CallerOf, LibraryOf, ServiceOf
from service.http.limits import limit_body
from service.http.problems import ProblemError
from service.http.views import JobView
from service.jobs.requests import BatchRequest, JobFiles, PaperJob, TableRequest

__all__ = [
    "JobSubmitter",
    "JobSubmitterOf",
    "document_upload",
    "file_name",
    "is_form",
    "read_form",
    "read_json",
    "uploaded_file",
]

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
_MAX_FIELDS = 8
# A form's boundaries, headers and text fields.
_FORM_OVERHEAD_BYTES = 100_000
_MAX_NAME_LENGTH = 200
_RETRY_SECONDS = 30
# Of a library; a folder of papers is sent in parts if it has more.
_MAX_WAITING_JOBS = 1000
_NO_PASSWORDS = (
    "This service leaves jobs to other processes, and passwords are kept in memory only; decrypt the file, or send "
    "it to a service that adds papers itself (service.jobs_at_once)."
)

Body = TypeVar("Body", bound=BaseModel)
JobRequest = PaperJob | BatchRequest | TableRequest
_KINDS: Mapping[type[JobRequest], JobKind] = {PaperJob: "add", BatchRequest: "batch", TableRequest: "table"}


def document_upload(
    model: type[BaseModel], *, file: str, fields: Mapping[str, str] | None = None, example: Mapping[str, object]
) -> dict[str, Any]:
    """Return the OpenAPI description of a body that is either a form with a file, or JSON.

    Args:
        model: The JSON body.
        file: The description of the form's file.
        fields: The descriptions of the form's text fields, by name.
    """
    texts = {name: {"type": "string", "description": about} for name, about in (fields or {}).items()}
    upload = {"type": "string", "format": "binary", "description": file}
    form = {"type": "object", "required": ["file"], "properties": {"file": upload, **texts}}
    json = {"schema": model.model_json_schema(), "example": example}
    content = {"multipart/form-data": {"schema": form}, "application/json": json}
    return {"requestBody": {"required": True, "content": content}}


def is_form(request: Request) -> bool:
    """Return whether the body is a form, not JSON. Raises ProblemError (415) if it is neither."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in ("multipart/form-data", "application/json"):
        return media_type == "multipart/form-data"
    detail = f"The body is {media_type or 'of no kind'!r}; send multipart/form-data with a file, or application/json."
    raise ProblemError(415, "unknown-body", detail)


@asynccontextmanager
async def read_form(request: Request, *, max_bytes: int) -> AsyncIterator[FormData]:
    """Read the fields of a form, whose one file has at most `max_bytes`; closed at the end of the block."""
    stream = _limited(request, max_bytes, overhead=_FORM_OVERHEAD_BYTES)
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


async def read_json(request: Request, model: type[Body], *, max_bytes: int) -> Body:
    """Return the JSON body. Raises RequestValidationError, and ProblemError (413) if it is larger than `max_bytes`."""
    data = b"".join([chunk async for chunk in _limited(request, max_bytes)])
    try:
        return await asyncio.to_thread(model.model_validate_json, data)
    except ValidationError as error:
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from error


def uploaded_file(form: FormData) -> UploadFile:
    """Return the file of a form. Raises RequestValidationError if there is none."""
    found = form.get("file")
    if isinstance(found, UploadFile):
        return found
    missing = {"type": "missing", "loc": ("body", "file"), "msg": "a part 'file' with a file name is required"}
    raise RequestValidationError([missing])


def file_name(file: UploadFile, *, default: str) -> str:
    """Return the end of an uploaded file's name, which has its suffix."""
    return (file.filename or default)[-_MAX_NAME_LENGTH:]


async def _limited(request: Request, max_bytes: int, *, overhead: int = 0) -> AsyncGenerator[bytes, None]:
    """Yield the body in chunks. Raises ProblemError, also if the client stops sending."""
    receive = limit_body(request.scope, request.receive, max_bytes=max_bytes, overhead=overhead)
    try:
        async for chunk in Request(request.scope, receive).stream():
            yield chunk
    except ClientDisconnect as error:
        raise ProblemError(400, "cut-off", "The body is incomplete; send it again.") from error


@dataclass(frozen=True, kw_only=True)
class JobSubmitter:
    """Submits jobs to the queue of the caller's library.

    An upload is on disk before its job is in the queue, and both before the response is sent.
    """

    service: ServiceOf
    caller: CallerOf
    library: LibraryOf

    @property
    def folder(self) -> Location:
        """Where the library is."""
        return self.caller.library

    async def check_capacity(self) -> None:
        """Raise ProblemError (429) if too many jobs wait; called before a body is read."""
        if (await asyncio.to_thread(self.library.jobs.counts)).get("queued", 0) >= _MAX_WAITING_JOBS:
            detail = f"{_MAX_WAITING_JOBS} jobs of this library are waiting already; send it again when some are done."
            raise ProblemError(429, "too-many-jobs", detail, headers={"Retry-After": str(_RETRY_SECONDS)})

    async def submit(
        self,
        request: JobRequest,
        response: Response,
        *,
        upload: BinaryIO | None = None,
        password: str = "",
    ) -> JobView:
        """Store the upload that the request names, if any, and queue the job."""
        jobs, name = self.service.jobs, JobQueue.new_id()
        if password:
            if not jobs.takes_jobs:
                raise ProblemError(422, "no-passwords", _NO_PASSWORDS)
            # Before a worker can lease the job.
            await jobs.keep_password(name, password, folder=self.folder)
        reserved = jobs.id if password else ""
        try:
            job = await asyncio.to_thread(self._create, name, request, upload, reserved=reserved)
        except BaseException:
            jobs.forget_password(name)
            raise
        jobs.notify(self.folder)
        response.headers["Location"] = f"/v1/jobs/{job.id}"
        return JobView.of(job)

    def _create(self, job: str, request: JobRequest, upload: BinaryIO | None, *, reserved: str) -> Job:
        files = JobFiles(self.folder)
        kind = _KINDS[type(request)]
        try:
            if upload is not None and not isinstance(request, TableRequest):
                files.store(job, upload, file=request.upload if isinstance(request, PaperJob) else request.file)
            return self.library.jobs.create(kind, to_json(request), job=job, reserved=reserved)
        except BaseException:
            files.delete(job)
            raise


JobSubmitterOf = Annotated[JobSubmitter, Depends()]
