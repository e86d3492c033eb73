"""Path parameters and request bodies that several routes share.

An id's form is checked before it is looked up, and it is looked up in the caller's library only; no file path is ever
built from one.
"""

from typing import Annotated

from fastapi import Depends, Path
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from paperscope_core.errors import UnknownElementError
from paperscope_core.types import MAX_QUESTION_LENGTH, Element, ElementKind, Filters, Paper, PaperEntry, Table
from service.http.auth import ComputingLibraryOf, LibraryOf

__all__ = [
    "CONVERSATION_PATTERN",
    "ELEMENT_PATTERN",
    "PAPER_PATTERN",
    "ElementOf",
    "EntryOf",
    "Name",
    "PaperOf",
    "QuestionBody",
    "QuestionText",
    "TableOf",
    "YearRange",
]

PAPER_PATTERN = r"^[0-9a-f]{12}$"
ELEMENT_PATTERN = r"^[^\W_][\w.-]{0,79}$"

CONVERSATION_PATTERN = r"^conversation-[0-9a-f]{24}$"

_PaperId = Annotated[str, Path(pattern=PAPER_PATTERN, description="A paper's id.", examples=["b1810c2e3f4a"])]
_ElementName = Annotated[
    str, Path(pattern=ELEMENT_PATTERN, description="An element's id, without its paper's.", examples=["equation-2"])
]
_TableName = Annotated[
    str, Path(pattern=ELEMENT_PATTERN, description="A table's id, without its paper's.", examples=["table-1"])
]
Name = Annotated[str, Field(min_length=1, max_length=1000)]
YearRange = Annotated[str, Field(pattern=r"^([0-9]{4}|[0-9]{4}-|-[0-9]{4}|[0-9]{4}-[0-9]{4})$")]
QuestionText = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_LENGTH, pattern=r"\S")]


class QuestionBody(BaseModel):
    """A question and the filters on its sources; a filter that is left out restricts nothing."""

    model_config = ConfigDict(extra="forbid")

    question: QuestionText = Field(description="the question, in any language")
    papers: list[Name] = Field(
        default=[],
        max_length=1000,
        description="only these papers: ids, file names, parts of titles, or #TAG for those with a tag",
    )
    sections: list[Name] = Field(
        default=[], max_length=100, description="only sections of these numbers (5.1) or titles, and their subsections"
    )
    kinds: list[ElementKind] = Field(default=[], max_length=5, description="only elements of these kinds")
    years: YearRange | None = Field(
        default=None,
        description="only papers of these years: 2020, 2018-2020, 2018- or -2020",
    )
    each_paper: StrictBool = Field(
        default=False,
        description="ask each paper (at most 50, a model call for each), and conclude from what they say; of a "
        "retrieval, return the best sources of each paper",
    )

    @property
    def filters(self) -> Filters:
        """The filters. Raises InputError."""
        return Filters.of(papers=self.papers, sections=self.sections, kinds=self.kinds, years=self.years)


def _entry(paper: _PaperId, library: LibraryOf) -> PaperEntry:
    return library.entry(paper)


EntryOf = Annotated[PaperEntry, Depends(_entry)]


def _paper(entry: EntryOf, library: ComputingLibraryOf) -> Paper:
    return library.paper(entry.id)


PaperOf = Annotated[Paper, Depends(_paper)]


def _element(entry: EntryOf, element: _ElementName, library: ComputingLibraryOf) -> Element:
    return library.element(f"{entry.id}/{element}")


ElementOf = Annotated[Element, Depends(_element)]


def _table(entry: EntryOf, table: _TableName, library: ComputingLibraryOf) -> Table:
    found = library.element(f"{entry.id}/{table}")
    if not isinstance(found, Table):
        raise UnknownElementError(f"{entry.id}/{table}")
    return found


TableOf = Annotated[Table, Depends(_table)]
