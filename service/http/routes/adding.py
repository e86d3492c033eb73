"""Adding papers: uploaded, or by a path of this machine."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import FormData

from ingest import HEAD_BYTES, check_head, check_size
from paperscope.library import Library
from service.http.access import CallerOf, LibraryOf
from service.http.bodies import ANY_SIZE, file_or_json, is_form, read_form, read_json, the_file
from service.http.job_view import JobView
from service.http.problems import ProblemError
from service.http.queueing import Queue, QueueOf
from service.jobs import AddRequest
from service.opening import open_unlinked

__all__ = ["router"]

router = APIRouter(tags=["papers"])

_MB = 1_000_000
_LARGEST_JSON = 100_000
_LONGEST_NAME = 200


class PaperPath(BaseModel):
    """A paper that lies on the service's machine."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(description="the absolute path of a file inside a folder that the caller may add from")
    password: str = Field(default="", description="opens an encrypted file")
    replaces: str = Field(default="", description="the paper that this is a newer version of")


_BODY = file_or_json(
    PaperPath,
    file="the paper, with its file name",
    fields={"password": "opens an encrypted file", "replaces": "the paper that this is a newer version of"},
    example={"path": "/srv/papers/ner-report.pdf"},
)


@router.post("/v1/papers", status_code=202, summary="Add a paper", openapi_extra=_BODY, max_body_size=ANY_SIZE)
async def add_paper(
    request: Request, response: Response, queue: QueueOf, caller: CallerOf, library: LibraryOf
) -> JobView:
    """Hand over one paper (PDF, DOCX, Markdown, HTML, JATS, TEI, text or a picture), or name one by its path. The
    answer is a job, under `Location`; once it is given, the paper is added whatever happens to the service."""
    form = is_form(request)
    await queue.check_room()
    if not form:
        named = await read_json(request, PaperPath, most=_LARGEST_JSON)
        file = await asyncio.to_thread(_allowed, named.path, caller.folders)
        await asyncio.to_thread(_check_file, file, max_mb=queue.service.settings.limits.max_file_mb)
        replaces = await _replaced(library, named.replaces)
        asked = AddRequest(name=file.name, path=str(file), replaces=replaces)
        return await queue.add(asked, response, secret=named.password)
    async with read_form(request, most=queue.service.settings.limits.max_file_mb * _MB) as parts:
        return await _handed_over(parts, response, queue, library)


async def _handed_over(parts: FormData, response: Response, queue: Queue, library: Library) -> JobView:
    file = the_file(parts)
    name = (file.filename or "paper")[-_LONGEST_NAME:]
    check_head(await file.read(HEAD_BYTES), Path(name))
    await file.seek(0)
    replaces = await _replaced(library, str(parts.get("replaces", "")))
    request = partial(_request, name=name, replaces=replaces)
    secret = str(parts.get("password", ""))
    return await queue.hand_over(file.file, response, name=name, request=request, secret=secret)


def _request(upload: str, *, name: str, replaces: str | None) -> AddRequest:
    return AddRequest(name=name, upload=upload, replaces=replaces)


async def _replaced(library: Library, name: str) -> str | None:
    """The id of the paper that goes. Raises UnknownPaperError."""
    return (await asyncio.to_thread(library.paper, name)).id if name else None


def _allowed(path: str, folders: Sequence[Path]) -> Path:
    """The file under a path, without links. What lies outside the folders is refused, whether it is there or not."""
    if not folders:
        detail = "No folder's papers may be added by path here (service.folders, or the key's); upload the file."
        raise ProblemError(403, "no-folders", detail)
    try:
        # A way up and down again would tell what is outside.
        file = Path(path).resolve() if Path(path).is_absolute() and ".." not in Path(path).parts else None
    except (OSError, RuntimeError, ValueError):
        file = None
    if file is None or not any(file.is_relative_to(folder.resolve()) for folder in folders):
        named = path if len(path) <= _LONGEST_NAME else f"{path[:_LONGEST_NAME]}…"
        detail = f"{named!r} is no absolute path inside a folder whose papers you may add; upload the file."
        raise ProblemError(403, "foreign-path", detail)
    return file


def _check_file(file: Path, *, max_mb: int) -> None:
    """Raise PaperFileError for what is no paper at first sight."""
    with open_unlinked(file) as opened:
        check_size(file, max_mb=max_mb)
        check_head(opened.read(HEAD_BYTES), file)
