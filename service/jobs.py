"""What the service's jobs are asked for and what comes of them: the JSON texts of their requests and results."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from paperscope.library import Added
from paperscope.types import PageProblem, Shortfall, Usage

__all__ = ["AddRequest", "AddResult", "BatchRequest"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AddRequest:
    """A paper to add: a file that was handed over (`upload`, its name among the job's files), or one at a `path` of
    this machine. `name` is what the caller calls it, `replaces` the id of the paper that it takes the place of."""

    name: str
    upload: str = ""
    path: str = ""
    replaces: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRequest:
    """So many questions to answer, from a `file` among the job's files; `name` is what the caller calls it."""

    name: str
    file: str
    questions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AddResult:
    """What adding a paper came to.

    `elements` counts its elements by kind; `described`, `skipped` and `unread` count its pictures by what a
    vision model did with them; `shortfall` is what the extracting model did not read.
    """

    paper: str
    title: str
    outcome: str
    pages: int
    elements: Mapping[str, int]
    described: int
    skipped: int
    unread: int
    seconds: float
    usage: Usage
    shortfall: Shortfall = field(default_factory=Shortfall)
    problems: tuple[PageProblem, ...] = ()

    @classmethod
    def of(cls, added: Added) -> "AddResult":
        """The result of an add."""
        paper, images = added.paper, added.images
        return cls(
            paper=paper.id,
            title=paper.title,
            outcome=added.outcome,
            pages=len(paper.pages),
            elements=dict(sorted(Counter(element.kind for element in paper.elements).items())),
            described=len(images.descriptions),
            skipped=len(images.skipped),
            unread=len(images.unread),
            seconds=round(added.seconds, 3),
            usage=added.usage,
            shortfall=added.shortfall,
            problems=paper.problems,
        )
