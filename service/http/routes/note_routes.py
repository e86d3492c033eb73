"""Tags of papers, and notes on their places."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from paperscope.library import Library
from paperscope.note_export import note_files
from paperscope_core.types import Box, Note, Place
from service.http.auth import ComputingLibraryOf, LibraryOf
from service.http.parameters import ELEMENT_PATTERN, PAPER_PATTERN, Name
from service.http.responses import document_content, file_response, json_response
from service.page_links import note_path

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["notes"])

_NoteId = Annotated[str, Path(pattern=r"^note-[0-9a-f]{24}$", description="A note's id.")]
_Tag = Annotated[str, Field(min_length=1, max_length=100)]
_Text = Annotated[str, Field(max_length=20_000, description="in Markdown; empty for a highlight")]
_Number = Annotated[float, Field(ge=-(10**6), le=10**6)]


class TagList(BaseModel):
    """The tags in alphabetical order, each with the ids of its papers."""

    tags: Mapping[str, Sequence[str]]


class TagChange(BaseModel):
    """Tags to give to papers and to take from them."""

    model_config = ConfigDict(extra="forbid")

    papers: list[Name] = Field(min_length=1, max_length=1000, description="ids, file names, parts of titles or #TAG")
    add: list[_Tag] = Field(default=[], max_length=50)
    remove: list[_Tag] = Field(default=[], max_length=50)


class NotePlace(BaseModel):
    """A box on a page, or lines of a paper without pages."""

    page: Annotated[int, Field(ge=1, le=10**6)]
    box: tuple[_Number, _Number, _Number, _Number]


class NewNote(BaseModel):
    """A note on a paper, on its element or on places."""

    model_config = ConfigDict(extra="forbid")

    paper: Annotated[str, Field(pattern=PAPER_PATTERN)]
    text: _Text = ""
    quote: str = Field(default="", max_length=4000, description="what the paper says there; by default the element")
    element: str = Field(default="", pattern=rf"^$|{ELEMENT_PATTERN}", description="its id without the paper's")
    places: list[NotePlace] = Field(default=[], max_length=100, description="by default those of the element")


class NoteText(BaseModel):
    """Another text of a note."""

    model_config = ConfigDict(extra="forbid")

    text: _Text


class NoteList(BaseModel):
    """Notes, the one that was changed last first; `total` counts those that match."""

    notes: tuple[Note, ...]
    total: int


@router.get("/tags", summary="List the tags")
def list_tags(library: LibraryOf) -> TagList:
    """Return the library's tags. Wherever papers are named, `#TAG` names all papers of a tag."""
    return TagList(tags=library.tags())


@router.patch("/tags", summary="Tag papers")
def change_tags(body: TagChange, library: LibraryOf) -> TagList:
    """Give papers tags, and take tags from them. A tag without papers is gone. Papers keep their tags when a newer
    version replaces them."""
    library.tag(body.papers, add=body.add, remove=body.remove)
    return list_tags(library)


@router.get(
    "/notes",
    summary="List notes",
    response_model=NoteList,
    responses=document_content("text/markdown", "application/zip"),
)
def list_notes(
    request: Request,
    library: ComputingLibraryOf,
    *,
    query: Annotated[str, Query(max_length=300, description="Only with these words in text, quotation or title.")] = "",
    paper: Annotated[tuple[Name, ...], Query(max_length=1000, description="Only on these papers, or on #TAG.")] = (),
    form: Annotated[
        Literal["json", "markdown"], Query(alias="format", description="Markdown files with front matter, as Obsidian.")
    ] = "json",
    limit: Annotated[int, Query(ge=1, le=10_000, description="At most so many.")] = 100,
) -> Response:
    """Return the notes and highlights, also those on papers that were removed. As Markdown, a file for each paper: of
    several, a ZIP archive."""
    papers = [entry.id for entry in library.select(paper)] if paper else None
    found = library.notes.all(papers=papers, words=query)
    if form == "markdown":
        return _as_markdown(found, library, address=str(request.base_url).rstrip("/"))
    return json_response(NoteList(notes=tuple(found[:limit]), total=len(found)))


@router.post("/notes", summary="Add a note", status_code=201)
def add_note(body: NewNote, library: LibraryOf, response: Response) -> Note:
    """Store a note on a place of a paper, or a highlight, which is a note without a text."""
    places = [Place(paper=body.paper, page=one.page, box=Box(*one.box)) for one in body.places]
    note = library.note(body.paper, body.text, element=body.element, places=places, quote=body.quote)
    response.headers["Location"] = f"/v1/notes/{note.id}"
    return note


@router.patch("/notes/{note}", summary="Change a note")
def change_note(note: _NoteId, body: NoteText, library: LibraryOf) -> Note:
    """Give a note another text."""
    return library.notes.change(note, body.text)


@router.delete("/notes/{note}", summary="Delete a note", status_code=204)
def delete_note(note: _NoteId, library: LibraryOf) -> Response:
    """Delete a note."""
    library.notes.delete(note)
    return Response(status_code=204)


def _as_markdown(notes: Sequence[Note], library: Library, *, address: str) -> Response:
    files = note_files(notes, library.entries(), library.tags(), link=lambda note: address + note_path(note))
    if len(files) == 1:
        ((name, text),) = files.items()
        return file_response(text, name=name, media_type="text/markdown")
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return file_response(written.getvalue(), name="notes.zip", media_type="application/zip")
