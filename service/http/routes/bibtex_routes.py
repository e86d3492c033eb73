"""Bibliographies: papers as BibTeX, RIS or CSL-JSON."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response

from paperscope.bibliographies import BIBLIOGRAPHIES, BibliographyFormat
from paperscope.library import Library
from paperscope_core.types import PaperEntry
from service.http.auth import ComputingLibraryOf, LibraryOf
from service.http.parameters import PAPER_PATTERN, EntryOf
from service.http.responses import document_content, file_response

__all__ = ["router"]

# Before the routes of papers, which would take `.bib` for a part of an id.
router = APIRouter(prefix="/v1", tags=["papers"])

_BIBTEX = "application/x-bibtex"
_TYPES: dict[BibliographyFormat, tuple[str, str]] = {
    "bibtex": (_BIBTEX, "bib"),
    "ris": ("application/x-research-info-systems", "ris"),
    "csl-json": ("application/vnd.citationstyles.csl+json", "json"),
}
_PaperId = Annotated[str, Query(pattern=PAPER_PATTERN)]


@router.get(
    "/papers/{paper}.bib",
    summary="Show a paper as BibTeX",
    response_class=Response,
    responses=document_content(_BIBTEX),
)
def show_entry(library: LibraryOf, entry: EntryOf) -> Response:
    """Return a BibTeX entry, of what the paper says about itself and what a record of it says."""
    return _file(library, [entry], name=entry.id, form="bibtex")


@router.get(
    "/bibtex",
    summary="Show papers as BibTeX, RIS or CSL-JSON",
    response_class=Response,
    responses=document_content(*(media_type for media_type, _ in _TYPES.values())),
)
def show_bibliography(
    library: ComputingLibraryOf,
    paper: Annotated[
        tuple[_PaperId, ...], Query(max_length=1000, description="Ids of papers; without one, all of the library.")
    ] = (),
    form: Annotated[BibliographyFormat, Query(alias="format", description="The format.")] = "bibtex",
) -> Response:
    """Return an entry of each paper, in the order that was asked for."""
    entries = [library.entry(one) for one in dict.fromkeys(paper)] if paper else library.entries()
    return _file(library, entries, name="papers", form=form)


def _file(library: Library, entries: Sequence[PaperEntry], *, name: str, form: BibliographyFormat) -> Response:
    media_type, suffix = _TYPES[form]
    text = BIBLIOGRAPHIES[form](entries, library.publications([entry.id for entry in entries]))
    return file_response(text, name=f"{name}.{suffix}", media_type=media_type)
