"""What the routes that ask have in common in their bodies."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from paperscope.types import ElementKind, Filters
from service.http.asking import LONGEST_QUESTION

__all__ = ["Name", "QuestionBody", "QuestionText"]

Name = Annotated[str, Field(min_length=1, max_length=1000)]
QuestionText = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION, pattern=r"\S")]


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
