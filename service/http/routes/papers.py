"""Papers: add, list, show, download and remove them."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import FormData

from ingest import HEAD_BYTES, check_head, check_size
from paperscope.library import Library
from paperscope.originals import file_name
from paperscope_core.errors import PaperFileError
from service.http import example_paper
from service.http.auth import CallerOf, LibraryOf
from service.http.parameters import EntryOf, PaperOf
from service.http.problems import ProblemError
from service.http.responses import attachment_headers, document_content, document_example, json_response
from service.http.uploads import (
    UNLIMITED_BYTES,
    JobSubmitter,
    JobSubmitterOf,
    document_upload,
    is_form,
    read_form,
    read_json,
    uploaded_file,
)
from service.http.views import JobView, PaperList, PaperView, head_of, view_of
from service.jobs.requests import AddRequest, open_without_links

__all__ = ["router"]


# FastAPI runs routes that are no coroutines in threads: what they read from disk keeps nobody else waiting.
router = APIRouter(prefix="/v1/papers", tags=["papers"])


@router.get("", summary="List the papers", response_model=PaperList, responses=document_example(example_paper.PAPERS))
def list_papers(
    library: LibraryOf,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9, description="After so many.")] = 0,
) -> Response:
    """The library's papers in the order they were added, without their elements."""
    entries = library.entries()
    part = entries[offset : offset + limit]
    counts = library.counts([entry.id for entry in part])
    heads = tuple(head_of(entry, counts[entry.id]) for entry in part)
    return json_response(PaperList(papers=heads, total=len(entries), limit=limit, offset=offset))


@router.get(
    "/{paper}", summary="Show a paper", response_model=PaperView, responses=document_example(example_paper.PAPER)
)
def show_paper(paper: PaperOf, library: LibraryOf) -> Response:
    """What was read from a paper, without its elements: those are below `/v1/papers/{paper}/elements`."""
    head = head_of(library.entry(paper.id), library.counts([paper.id])[paper.id])
    view = view_of(head, paper, images=library.images(paper.id), shortfall=library.shortfall(paper.id))
    return json_response(view)


@router.delete("/{paper}", summary="Remove a paper", status_code=204)
def remove_paper(entry: EntryOf, library: LibraryOf) -> Response:
    """Remove a paper and exactly what it brought, the library's copy of its file included."""
    library.remove(entry.id)
    return Response(status_code=204)


@router.get(
    "/{paper}/file",
    summary="The paper's file",
    response_class=Response,
    responses=document_content("application/pdf", "application/octet-stream"),
)
def show_file(paper: PaperOf, library: LibraryOf) -> Response:
    """The file as it was added, while it is still there unchanged; one that is no PDF comes as plain bytes."""
    try:
        file = library.source(paper.id)
    except PaperFileError as error:
        raise ProblemError(404, "no-file", error.public) from error
    if not file.is_file():
        raise ProblemError(404, "no-file", f"{paper.file!r} is a folder; a paper of several files can't be sent")
    media_type = "application/pdf" if paper.format == "pdf" else "application/octet-stream"
    headers = {
        "ETag": f'"{paper.sha256}"',
        "Cache-Control": "private, no-cache",
        **attachment_headers(file_name(paper.file)),
    }
    return FileResponse(file, media_type=media_type, headers=headers)


_MB = 1_000_000
_MAX_JSON_BYTES = 100_000
_MAX_NAME_CHARACTERS = 200


class PaperPath(BaseModel):
    """A paper that lies on the service's machine."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(description="the absolute path of a file inside a folder that the caller may add from")
    password: str = Field(default="", description="opens an encrypted file")
    replaces: str = Field(default="", description="the paper that this is a newer version of")


_BODY = document_upload(
    PaperPath,
    file="the paper, with its file name",
    fields={"password": "opens an encrypted file", "replaces": "the paper that this is a newer version of"},
    example={"path": "/srv/papers/ner-report.pdf"},
)


@router.post("", status_code=202, summary="Add a paper", openapi_extra=_BODY, max_body_size=UNLIMITED_BYTES)
async def add_paper(
    request: Request, response: Response, queue: JobSubmitterOf, caller: CallerOf, library: LibraryOf
) -> JobView:
    """Hand over one paper (PDF, DOCX, Markdown, HTML, JATS, TEI, text or a picture), or name one by its path. The
    answer is a job, under `Location`; once it is given, the paper is added whatever happens to the service."""
    form = is_form(request)
    await queue.check_room()
    if not form:
        named = await read_json(request, PaperPath, most=_MAX_JSON_BYTES)
        file = await asyncio.to_thread(_allowed, named.path, caller.folders)
        await asyncio.to_thread(_check_file, file, max_mb=queue.service.settings.limits.max_file_mb)
        replaces = await _replaced(library, named.replaces)
        asked = AddRequest(name=file.name, path=str(file), replaces=replaces)
        return await queue.add(asked, response, secret=named.password)
    async with read_form(request, most=queue.service.settings.limits.max_file_mb * _MB) as parts:
        return await _handed_over(parts, response, queue, library)


async def _handed_over(parts: FormData, response: Response, queue: JobSubmitter, library: Library) -> JobView:
    file = uploaded_file(parts)
    name = (file.filename or "paper")[-_MAX_NAME_CHARACTERS:]
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
        named = path if len(path) <= _MAX_NAME_CHARACTERS else f"{path[:_MAX_NAME_CHARACTERS]}…"
        detail = f"{named!r} is no absolute path inside a folder whose papers you may add; upload the file."
        raise ProblemError(403, "foreign-path", detail)
    return file


def _check_file(file: Path, *, max_mb: int) -> None:
    """Raise PaperFileError for what is no paper at first sight."""
    with open_without_links(file) as opened:
        check_size(file, max_mb=max_mb)
        check_head(opened.read(HEAD_BYTES), file)
