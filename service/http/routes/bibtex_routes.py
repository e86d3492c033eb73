"""Bibliographies: papers as BibTeX."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Query, Response

from paperscope.bibtex import bibtex
from paperscope_core.types import PaperEntry
from service.http.auth import ComputingLibraryOf
from service.http.parameters import PAPER_PATTERN, EntryOf
from service.http.responses import document_content, file_response

__all__ = ["router"]

# Before the routes of papers, which would take `.bib` for a part of an id.
router = APIRouter(prefix="/v1", tags=["papers"])

_MEDIA_TYPE = "application/x-bibtex"
_PaperId = Annotated[str, Query(pattern=PAPER_PATTERN)]


@router.get(
    "/papers/{paper}.bib",
    summary="Show a paper as BibTeX",
    response_class=Response,
    responses=document_content(_MEDIA_TYPE),
)
def show_entry(entry: EntryOf) -> Response:
    """Return a BibTeX entry, of what the paper says about itself."""
    return _file([entry], name=f"{entry.id}.bib")


@router.get(
    "/bibtex", summary="Show papers as BibTeX", response_class=Response, responses=document_content(_MEDIA_TYPE)
)
def show_bibliography(
    library: ComputingLibraryOf,
    paper: Annotated[
        tuple[_PaperId, ...], Query(max_length=1000, description="Ids of papers; without one, all of the library.")
    ] = (),
) -> Response:
    """Return a BibTeX entry of each paper, in the order that was asked for."""
    entries = [library.entry(one) for one in dict.fromkeys(paper)] if paper else library.entries()
    return _file(entries, name="papers.bib")


def _file(entries: Iterable[PaperEntry], *, name: str) -> Response:
    return file_response(bibtex(entries), name=name, media_type=_MEDIA_TYPE)
