"""The papers and elements that a request's path names.

Ids are checked by their form before anything is looked up, and looked up in the caller's library only: no path of a
file is ever made of them.
"""

from typing import Annotated

from fastapi import Depends, Path

from paperscope.library import Library
from paperscope.types import Element, Paper, PaperEntry, Table
from service.http.access import LibraryOf
from service.http.problems import ProblemError

__all__ = [
    "ELEMENT",
    "PAPER",
    "ElementOf",
    "EntryOf",
    "PaperId",
    "PaperOf",
    "TableOf",
    "find_crop",
    "unknown_element",
]

PAPER = r"^[0-9a-f]{12}$"
ELEMENT = r"^(passage|table|figure|equation|reference)-[1-9][0-9]{0,5}$"
_TABLE = r"^table-[1-9][0-9]{0,5}$"

PaperId = Annotated[str, Path(pattern=PAPER, description="A paper's id.", examples=["b1810c2e3f4a"])]
_ElementName = Annotated[
    str, Path(pattern=ELEMENT, description="An element's id, without its paper's.", examples=["equation-2"])
]
_TableName = Annotated[
    str, Path(pattern=_TABLE, description="A table's id, without its paper's.", examples=["table-1"])
]


def _entry(paper: PaperId, library: LibraryOf) -> PaperEntry:
    return library.entry(paper)


EntryOf = Annotated[PaperEntry, Depends(_entry)]


def _paper(entry: EntryOf, library: LibraryOf) -> Paper:
    return library.paper(entry.id)


PaperOf = Annotated[Paper, Depends(_paper)]


def unknown_element(paper: str, name: str) -> ProblemError:
    """What to say of an element that a paper doesn't have."""
    detail = f"no {name!r} in paper {paper!r}; GET /v1/papers/{paper}/elements lists what is there"
    return ProblemError(404, "unknown-element", detail)


def _find(library: Library, paper: str, name: str) -> Element:
    try:
        return library.element(f"{paper}/{name}")
    except KeyError as error:
        raise unknown_element(paper, name) from error


def _element(entry: EntryOf, element: _ElementName, library: LibraryOf) -> Element:
    return _find(library, entry.id, element)


ElementOf = Annotated[Element, Depends(_element)]


def _table(entry: EntryOf, table: _TableName, library: LibraryOf) -> Table:
    found = _find(library, entry.id, table)
    if not isinstance(found, Table):
        raise TypeError(f"{found.id!r} is a {found.kind}")
    return found


TableOf = Annotated[Table, Depends(_table)]


def find_crop(library: Library, crop: str) -> bytes:
    """The picture of an element of the library, as PNG. Raises ProblemError (404)."""
    try:
        return library.crop(crop)
    except KeyError as error:
        raise ProblemError(404, "unknown-crop", f"no paper of the library has a picture {crop!r}") from error
