"""Papers: list, show, download, remove and add them, by upload or by a path on the service's machine."""

import asyncio
import os
import shutil
import stat
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import FormData

from ingest.formats import HEAD_BYTES, check_head
from ingest.parsers import check_bytes
from paperscope.library import Library
from paperscope.originals import file_name as library_file_name
from paperscope_core.errors import PaperFileError
from paperscope_core.paper_lookup import find_entry
from paperscope_core.types import Publication
from service.http.answering import cancel_on_disconnect
from service.http.auth import ComputingLibraryOf, LibraryOf
from service.http.paper_search import PaperOrder, search_papers
from service.http.parameters import EntryOf, PaperOf, YearRange
from service.http.problems import ProblemError
from service.http.responses import attachment_headers, document_content, document_example, json_response
from service.http.uploads import (
    JobSubmitter,
    JobSubmitterOf,
    document_upload,
    file_name,
    is_form,
    read_form,
    read_json,
    uploaded_file,
)
from service.http.views import EstimateView, JobView, PaperHead, PaperList, PaperView
from service.jobs.requests import PaperJob, file_within, open_without_links, upload_name

__all__ = ["router"]

# FastAPI runs routes that are not coroutines in threads, so reading from disk does not block others.
router = APIRouter(prefix="/v1/papers", tags=["papers"])

_BYTES_PER_MB = 1_000_000
_MAX_JSON_BYTES = 100_000
_PASSWORD = "opens an encrypted file; it is kept in memory only, until the job has ended"  # noqa: S105 # no password
# Longer paths are cut off in messages.
_MAX_QUOTED = 200


class PaperPath(BaseModel):
    """A paper on the service's machine."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(description="the absolute path of a file inside a folder that the caller may add from")
    password: str = Field(default="", description=_PASSWORD)
    replaces: str = Field(default="", description="the paper of which this is a newer version")


class RecordCorrection(BaseModel):
    """What is corrected; what is left out stays."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"title": "Foxes at Large", "year": 2020, "doi": "10.5555/12.34"}}
    )

    title: str = Field(default="", max_length=1000)
    authors: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        default_factory=list, max_length=5000, description="The names of all authors."
    )
    year: int | None = Field(default=None, ge=1000, le=2999)
    venue: str = Field(default="", max_length=300, description="The journal or the proceedings.")
    doi: str = Field(default="", max_length=300, pattern=r"^(10\.\d{4,9}/\S+)?$")


_BODY = document_upload(
    PaperPath,
    file="the paper, with its file name",
    fields={"password": _PASSWORD, "replaces": "the paper of which this is a newer version"},
    example={"path": "/srv/papers/ner-report.pdf"},
)


@router.get("", summary="List the papers", response_model=PaperList, responses=document_example("papers"))
def list_papers(
    library: ComputingLibraryOf,
    *,
    query: Annotated[
        str,
        Query(
            max_length=300, description="Only papers whose title, authors, file, venue or ids have these words; #TAG."
        ),
    ] = "",
    year: Annotated[YearRange | None, Query(description="Only papers of these years: 2020, 2018-2020, 2018-.")] = None,
    sort: Annotated[
        PaperOrder | None,
        Query(description="`added` and `year`: the newest first; by default the papers are in the order of addition."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9, description="Skip so many.")] = 0,
) -> Response:
    """Return the library's papers without their elements; `total` counts those that match."""
    entries = search_papers(library.entries(), query=query, tags=library.tags(), years=year, order=sort)
    page = entries[offset : offset + limit]
    return json_response(PaperList(papers=PaperHead.of(page, library), total=len(entries), limit=limit, offset=offset))


@router.get("/{paper}", summary="Show a paper", response_model=PaperView, responses=document_example("paper"))
def show_paper(paper: PaperOf, library: LibraryOf) -> Response:
    """Return what was read from a paper, without its elements: see `/v1/papers/{paper}/elements`."""
    (head,) = PaperHead.of([library.entry(paper.id)], library)
    view = PaperView(
        head=head,
        format=paper.format,
        pages=paper.pages,
        sections=paper.sections,
        problems=paper.problems,
        images=library.images(paper.id),
        shortfall=library.shortfall(paper.id),
    )
    return json_response(view)


@router.delete("/{paper}", summary="Remove a paper", status_code=204)
def remove_paper(entry: EntryOf, library: LibraryOf) -> Response:
    """Remove a paper and everything that was read from it, including the library's copy of its file."""
    library.remove(entry.id)
    return Response(status_code=204)


@router.patch("/{paper}", summary="Correct a paper's record")
def correct_paper(entry: EntryOf, body: RecordCorrection, library: LibraryOf) -> PaperHead:
    """Correct title, authors, year, venue or DOI. They stay corrected when the file is read again."""
    published = Publication(year=body.year, venue=body.venue.strip(), doi=body.doi)
    library.correct(entry.id, title=body.title.strip(), authors=body.authors, published=published)
    return PaperHead.of([library.entry(entry.id)], library)[0]


@router.get(
    "/{paper}/file",
    summary="Download a paper's file",
    response_class=Response,
    responses=document_content("application/pdf", "application/octet-stream"),
)
def show_file(paper: PaperOf, library: LibraryOf) -> Response:
    """Return the file as it was added, while it still exists unchanged; a file that is not a PDF comes as plain
    bytes."""
    try:
        file = library.source(paper.id)
        found = file.stat()
    except PaperFileError as error:
        raise ProblemError(404, "no-file", error.public) from error
    except FileNotFoundError as error:
        raise ProblemError(404, "no-file", f"{paper.file!r} was removed in the meantime") from error
    if not stat.S_ISREG(found.st_mode):
        raise ProblemError(404, "no-file", f"{paper.file!r} is a folder; a paper of several files can't be downloaded")
    media_type = "application/pdf" if paper.format == "pdf" else "application/octet-stream"
    headers = {
        "ETag": f'"{paper.sha256}"',
        "Cache-Control": "private, no-cache",
        **attachment_headers(library_file_name(paper.file)),
    }
    return FileResponse(file, media_type=media_type, headers=headers, stat_result=found)


@router.post("", status_code=202, summary="Add a paper", openapi_extra=_BODY)
async def add_paper(request: Request, response: Response, queue: JobSubmitterOf) -> JobView:
    """Upload a paper (PDF, an image, DOCX, ODT, EPUB, XLSX, PPTX, LaTeX, Markdown, HTML, JATS, TEI or text), or name
    one by its path. Returns a job, whose address is in `Location`; from then on, the paper is added even if the service
    is restarted."""
    form = is_form(request)
    await queue.check_capacity()
    max_mb = queue.service.settings.limits.max_file_mb
    if form:
        async with read_form(request, max_bytes=max_mb * _BYTES_PER_MB) as fields:
            return await _add_upload(fields, response, queue)
    named = await read_json(request, PaperPath, max_bytes=_MAX_JSON_BYTES)
    file = await asyncio.to_thread(_allowed, named.path, queue.caller.folders)
    await asyncio.to_thread(_check_file, file, max_mb=max_mb)
    replaces = await _replaced(queue.library, named.replaces)
    job = PaperJob(name=file.name, path=str(file), replaces=replaces, with_password=bool(named.password))
    return await queue.submit(job, response, password=named.password)


@router.post("/estimate", summary="Estimate the cost of adding a paper", openapi_extra=_BODY)
async def estimate_paper(request: Request, queue: JobSubmitterOf) -> EstimateView:
    """Return the calls, tokens and cost of adding a paper, by the models and prices that are set. Takes the body of
    `POST /v1/papers`; it reads the paper, and neither adds anything nor calls a model."""
    max_mb = queue.service.settings.limits.max_file_mb
    async with AsyncExitStack() as stack:
        if is_form(request):
            fields = await stack.enter_async_context(read_form(request, max_bytes=max_mb * _BYTES_PER_MB))
            upload = uploaded_file(fields)
            name, password = file_name(upload, default="paper"), str(fields.get("password", ""))
            check_head(await upload.read(HEAD_BYTES), Path(name))
            folder = stack.enter_context(TemporaryDirectory(prefix="paperscope-"))
            file = Path(folder) / upload_name(name)
            await asyncio.to_thread(_write, upload.file, file)
        else:
            named = await read_json(request, PaperPath, max_bytes=_MAX_JSON_BYTES)
            file, password = await asyncio.to_thread(_allowed, named.path, queue.caller.folders), named.password
            await asyncio.to_thread(_check_file, file, max_mb=max_mb)
        await stack.enter_async_context(queue.service.estimates.slot(queue.caller.name))
        work = queue.library.estimate_async(file, password=password or None)
        return EstimateView.of(await cancel_on_disconnect(request, work))


def _write(upload: BinaryIO, file: Path) -> None:
    upload.seek(0)
    with file.open("wb") as written:
        shutil.copyfileobj(upload, written)


async def _add_upload(fields: FormData, response: Response, queue: JobSubmitter) -> JobView:
    file = uploaded_file(fields)
    name = file_name(file, default="paper")
    check_head(await file.read(HEAD_BYTES), Path(name))
    await file.seek(0)
    replaces = await _replaced(queue.library, str(fields.get("replaces", "")))
    password = str(fields.get("password", ""))
    request = PaperJob(name=name, upload=upload_name(name), replaces=replaces, with_password=bool(password))
    return await queue.submit(request, response, upload=file.file, password=password)


async def _replaced(library: Library, name: str) -> str | None:
    """Return the id of the paper to replace. Raises UnknownPaperError."""
    return find_entry(await asyncio.to_thread(library.entries), name).id if name else None


def _allowed(path: str, folders: Sequence[Path]) -> Path:
    """Return the file at a path, without links. A path outside the folders is refused whether it exists or not."""
    if not folders:
        detail = "Papers can't be added by path here (service.folders, or the key's); upload the file."
        raise ProblemError(403, "no-folders", detail)
    file = file_within(path, folders)
    if file is None:
        quoted = path if len(path) <= _MAX_QUOTED else f"{path[:_MAX_QUOTED]}…"
        detail = f"{quoted!r} is no absolute path inside a folder whose papers you may add; upload the file."
        raise ProblemError(403, "foreign-path", detail)
    return file


def _check_file(file: Path, *, max_mb: int) -> None:
    """Raise PaperFileError if the size or the first bytes show that the file is not a paper."""
    with open_without_links(file) as opened:
        check_bytes(os.fstat(opened.fileno()).st_size, max_mb=max_mb, name=file.name)
        check_head(opened.read(HEAD_BYTES), file)
