"""What a question file holds: questions, each with what is expected of it and what it is answered from."""

from dataclasses import dataclass, field

from paperscope.types import Filters

__all__ = ["BadQuestion", "Gold", "Question"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Gold:
    """The answer that is expected; `answerable` tells whether the papers give one, `form` is the benchmark's
    `answer_format` ("Int", "Yes/No" …), "" where it states none."""

    answer: str
    answerable: bool = True
    form: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question with its position in the file (from 0); `filters` restrict what it is answered from."""

    index: int
    text: str
    gold: Gold | None = None
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, kw_only=True, slots=True)
class BadQuestion:
    """A row that can't be read as a question, kept so that it stands in its place in the results."""

    index: int
    text: str
    reason: str
