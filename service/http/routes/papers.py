"""The papers of the caller's library: listed, shown, removed."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from service.http.access import LibraryOf
from service.http.paths import EntryOf, PaperOf
from service.http.replies import json_reply
from service.http.views import PaperList, PaperView, head_of, view_of

__all__ = ["router"]

# FastAPI runs routes that are no coroutines in threads: what they read from disk keeps nobody else waiting.
router = APIRouter(prefix="/v1/papers", tags=["papers"])


@router.get("", summary="List the papers", response_model=PaperList)
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


@router.get("/{paper}", summary="Show a paper", response_model=PaperView)
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
