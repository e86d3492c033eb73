"""The papers of the caller's library: listed, shown, sent as they came, removed."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse

from paperscope.errors import PaperFileError
from paperscope.library.originals import file_name
from service.http import example_paper
from service.http.access import LibraryOf
from service.http.paths import EntryOf, PaperOf
from service.http.problems import ProblemError
from service.http.replies import json_reply, saved_as, shown_as, such_as
from service.http.views import PaperList, PaperView, head_of, view_of

__all__ = ["router"]

# FastAPI runs routes that are no coroutines in threads: what they read from disk keeps nobody else waiting.
router = APIRouter(prefix="/v1/papers", tags=["papers"])


@router.get("", summary="List the papers", response_model=PaperList, responses=such_as(example_paper.PAPERS))
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
    return json_reply(PaperList(papers=heads, total=len(entries), limit=limit, offset=offset))


@router.get("/{paper}", summary="Show a paper", response_model=PaperView, responses=such_as(example_paper.PAPER))
def show_paper(paper: PaperOf, library: LibraryOf) -> Response:
    """What was read from a paper, without its elements: those are below `/v1/papers/{paper}/elements`."""
    head = head_of(library.entry(paper.id), library.counts([paper.id])[paper.id])
    view = view_of(head, paper, images=library.images(paper.id), shortfall=library.shortfall(paper.id))
    return json_reply(view)


@router.delete("/{paper}", summary="Remove a paper", status_code=204)
def remove_paper(entry: EntryOf, library: LibraryOf) -> Response:
    """Remove a paper and exactly what it brought, the library's copy of its file included."""
    library.remove(entry.id)
    return Response(status_code=204)


@router.get(
    "/{paper}/file",
    summary="The paper's file",
    response_class=Response,
    responses=shown_as("application/pdf", "application/octet-stream"),
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
    headers = {"ETag": f'"{paper.sha256}"', "Cache-Control": "private, no-cache", **saved_as(file_name(paper.file))}
    return FileResponse(file, media_type=media_type, headers=headers)
