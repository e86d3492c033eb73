"""Reading bodies that hand over a file: no larger than allowed, and never more on the disk than that.

FastAPI would read such a body before it knows who calls, and its own limit can't come from the settings; so a route
reads it here, after its dependencies.
"""

import asyncio
import errno
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect

from service.http.problems import ProblemError

__all__ = ["ANY_SIZE", "file_or_json", "is_form", "read_form", "read_json", "the_file"]

# What a route gives FastAPI as its limit when it limits its body here.
ANY_SIZE = 1 << 62

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FIELDS = 8
_OVERHEAD = 100_000

Body = TypeVar("Body", bound=BaseModel)


def file_or_json(
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
    stream = _limited(request, most + _OVERHEAD, told=most)
    parser = MultiPartParser(request.headers, stream, max_files=1, max_fields=_FIELDS)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise ProblemError(400, "malformed-body", f"The multipart body can't be read: {error.message}") from error
    except OSError as error:
        if error.errno in _FULL:
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


def the_file(form: FormData) -> UploadFile:
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
