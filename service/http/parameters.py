"""Path parameters and request bodies that several routes share."""

from typing import Annotated

from fastapi import Depends, Path
from pydantic import BaseModel, ConfigDict, Field

from paperscope.library import Library
from paperscope_core.types import Element, ElementKind, Filters, Paper, PaperEntry, Table
from service.http.answering import MAX_QUESTION_CHARACTERS
from service.http.auth import LibraryOf
from service.http.problems import ProblemError

__all__ = [
    "ELEMENT_PATTERN",
    "PAPER_PATTERN",
    "ElementOf",
    "EntryOf",
    "Name",
    "PaperId",
    "PaperOf",
    "QuestionBody",
    "QuestionText",
    "TableOf",
    "find_crop",
    "unknown_element",
]


PAPER_PATTERN = r"^[0-9a-f]{12}$"
ELEMENT_PATTERN = r"^(passage|table|figure|equation|reference)-[1-9][0-9]{0,5}$"
_TABLE_PATTERN = r"^table-[1-9][0-9]{0,5}$"

PaperId = Annotated[str, Path(pattern=PAPER_PATTERN, description="A paper's id.", examples=["b1810c2e3f4a"])]
_ElementName = Annotated[
    str, Path(pattern=ELEMENT_PATTERN, description="An element's id, without its paper's.", examples=["equation-2"])
]
_TableName = Annotated[
    str, Path(pattern=_TABLE_PATTERN, description="A table's id, without its paper's.", examples=["table-1"])
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


Name = Annotated[str, Field(min_length=1, max_length=1000)]
QuestionText = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS, pattern=r"\S")]


class QuestionBody(BaseModel):
    """A question and what it may be answered from; a filter that is left out restricts nothing."""

    model_config = ConfigDict(extra="forbid")

    question: QuestionText = Field(description="what is asked, in any language")
    papers: list[Name] = Field(
        default=[], max_length=1000, description="only in these papers: ids, file names or parts of titles"
    )
    sections: list[Name] = Field(
        default=[], max_length=100, description="only in sections of these numbers (5.1) or titles, or below them"
    )
    kinds: list[ElementKind] = Field(default=[], max_length=5, description="only in elements of these kinds")
    years: str | None = Field(
        default=None,
        pattern=r"^([0-9]{4}|[0-9]{4}-|-[0-9]{4}|[0-9]{4}-[0-9]{4})$",
        description="only in papers of these years: 2020, 2018-2020, 2018- or -2020",
    )

    @property
    def filters(self) -> Filters:
        """What the question may be answered from. Raises InputError."""
        return Filters.of(papers=self.papers, sections=self.sections, kinds=self.kinds, years=self.years)
