"""Bibliographies: papers as BibTeX, RIS or CSL-JSON."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from paperscope.bibliographies import BIBLIOGRAPHIES, BibliographyFormat
from service.http.auth import ComputingLibraryOf
from service.http.parameters import Name
from service.http.responses import document_content, file_response

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["papers"])

_TYPES: dict[BibliographyFormat, tuple[str, str]] = {
    "bibtex": ("application/x-bibtex", "bib"),
    "ris": ("application/x-research-info-systems", "ris"),
    "csl-json": ("application/vnd.citationstyles.csl+json", "json"),
    "text": ("text/plain", "txt"),
}


@router.get(
    "/bibtex",
    summary="Show papers as BibTeX, RIS, CSL-JSON or references",
    response_class=Response,
    responses=document_content(*(media_type for media_type, _ in _TYPES.values())),
)
def show_bibliography(
    library: ComputingLibraryOf,
    paper: Annotated[
        tuple[Name, ...],
        Query(max_length=1000, description="Papers by id, file name, title or #TAG; all papers if omitted."),
    ] = (),
    form: Annotated[
        BibliographyFormat,
        Query(alias="format", description="The format; `text` is references in the style Cite Them Right (Harvard)."),
    ] = "bibtex",
) -> Response:
    """Return an entry of each paper, in the order that was asked for."""
    entries = library.select(paper)
    media_type, suffix = _TYPES[form]
    text = BIBLIOGRAPHIES[form](entries, library.publications([entry.id for entry in entries]))
    name = entries[0].id if len(entries) == 1 else "papers"
    return file_response(text, name=f"{name}.{suffix}", media_type=media_type)
