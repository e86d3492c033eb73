"""Response models beside the library's types: summaries of papers and tables, pages of lists, jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from graph_store.job_queue import Job, JobKind, JobState
from paperscope.library import EntityMatch, Estimate, Library
from paperscope_core.codec import from_json
from paperscope_core.types import (
    Element,
    ElementHead,
    Finding,
    Page,
    PageProblem,
    PaperEntry,
    PaperFormat,
    PaperImages,
    Section,
    Shortfall,
    Usage,
)
from query.papercheck import Discrepancy
from query.results import Leaderboard
from service.batch import BatchSummary
from service.batch.rows import BatchRow, RowStatus
from service.jobs.requests import AddResult, BatchRequest, PaperJob, TableRequest, TableResult

__all__ = [
    "BatchRowHead",
    "BatchRows",
    "ConnectedEntities",
    "ConnectedEntity",
    "DiscrepancyList",
    "ElementList",
    "EntityMatches",
    "EstimateView",
    "Gallery",
    "JobView",
    "LeaderboardList",
    "PaperHead",
    "PaperList",
    "PaperView",
]


class PaperHead(BaseModel):
    """A paper in short: `file` is its file's name, `counts` are its elements by kind, `problems` is how many the parser
    reported, `revision` is the library's when it was added; `year` is null and `venue`, `doi` and `arxiv` are empty if
    the paper does not state them."""

    id: str
    title: str
    authors: tuple[str, ...]
    file: str
    sha256: str
    revision: int
    counts: Mapping[str, int]
    pages: int
    problems: int
    year: int | None = None
    venue: str = ""
    doi: str = ""
    arxiv: str = ""
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, entries: Sequence[PaperEntry], library: Library) -> tuple[Self, ...]:
        """Return the heads of papers of a library."""
        ids = [entry.id for entry in entries]
        counts, page_counts, tags = library.counts(ids), library.page_counts(ids), library.tags()
        heads = []
        for entry in entries:
            # A paper may have been removed in the meantime.
            pages, problems = page_counts.get(entry.id, (0, 0))
            own = tuple(tag for tag, papers in tags.items() if entry.id in papers)
            values = {**asdict(entry), "counts": counts[entry.id], "pages": pages, "problems": problems, "tags": own}
            heads.append(cls.model_validate(values))
        return tuple(heads)


class PaperList(BaseModel):
    """A page of the library's papers in the order they were added; `total` counts all of them."""

    papers: tuple[PaperHead, ...]
    total: int
    limit: int
    offset: int


class PaperView(BaseModel):
    """A paper without its elements: head, pages (in points), sections, what the parser could not read (`problems`),
    what a vision model read in its images (`images`), and what the extraction model did not read (`shortfall`)."""

    head: PaperHead
    format: PaperFormat
    pages: tuple[Page, ...]
    sections: tuple[Section, ...]
    problems: tuple[PageProblem, ...]
    images: PaperImages
    shortfall: Shortfall


class ElementList(BaseModel):
    """A page of a paper's elements in reading order; `total` counts all that were asked for."""

    elements: tuple[Element, ...]
    total: int
    limit: int
    offset: int


class Gallery(BaseModel):
    """Tables and figures in the order in which their papers were added; `total` counts all that were asked for."""

    items: tuple[ElementHead, ...]
    total: int
    limit: int
    offset: int


class DiscrepancyList(BaseModel):
    """The numbers of a paper that do not fit together, tables first."""

    discrepancies: tuple[Discrepancy, ...]


class LeaderboardList(BaseModel):
    """The leaderboards with the most results; `total` counts those that match."""

    leaderboards: tuple[Leaderboard, ...]
    total: int


class ConnectedEntity(BaseModel):
    """An entity's name and the number of its relations."""

    name: str
    relations: int


class ConnectedEntities(BaseModel):
    """A paper's entities with the most relations, in descending order."""

    entities: tuple[ConnectedEntity, ...]


class EntityMatches(BaseModel):
    """Entities that a search found: an exact match first, then by their number of relations."""

    entities: tuple[EntityMatch, ...]


class EstimateView(BaseModel):
    """The estimated usage of models of adding a file, in all and by role; `cost` is in the currency of the prices that
    are set, and `cached` calls cost nothing. All is zero without a model, or if the library has the file."""

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    roles: Mapping[str, Usage]

    @classmethod
    def of(cls, estimate: Estimate) -> Self:
        """Return the view of an estimate."""
        return cls.model_validate({**asdict(estimate.total), "roles": estimate.roles})


class JobView(BaseModel):
    """A job: what it is about, its progress and its result."""

    id: str
    kind: JobKind = Field(description="add: a paper; batch: the questions of a file; table: a literature table to fill")
    name: str = Field(description="the file's name as uploaded, or the title of the table")
    state: JobState
    stage: str = Field(description="the current stage, such as parsing, or that it is in quarantine")
    done: int = Field(
        description="how much is done of the last stage that can be counted: pages, images, questions, papers"
    )
    total: int = Field(description="how much that stage has; 0 before the first one")
    cancelling: bool = Field(description="it was asked to stop, and has not yet")
    attempts: int = Field(description="how often it was started; more than once if a worker died, from then on alone")
    error: str = Field(description="why it failed, and what helps")
    result: AddResult | BatchSummary | TableResult | None = Field(description="its result, once it has succeeded")
    created: datetime
    started: datetime | None
    finished: datetime | None

    @classmethod
    def of(cls, job: Job) -> Self:
        """Return the view of a job."""
        request, result = _KINDS[job.kind]
        name = from_json(request, job.request).name
        ended_with = from_json(result, job.result) if job.result else None
        return cls.model_validate({**asdict(job), "name": name, "result": ended_with})


_KINDS: Mapping[
    JobKind, tuple[type[PaperJob | BatchRequest | TableRequest], type[AddResult | BatchSummary | TableResult]]
] = {
    "add": (PaperJob, AddResult),
    "batch": (BatchRequest, BatchSummary),
    "table": (TableRequest, TableResult),
}
"""The request and the result of each kind of job."""


class BatchRowHead(BaseModel):
    """A row of a batch in short; `right` (0 to 1) and `gold` are null without a gold answer, `error` is "" with an
    answer."""

    index: int
    question: str
    status: RowStatus
    answer: str
    confidence: float | None
    seconds: float
    findings: tuple[Finding, ...] = ()
    error: str = ""
    gold: str | None = None
    right: float | None = None

    @classmethod
    def of(cls, row: BatchRow) -> Self:
        """Return the head of a row that is not scored yet."""
        return cls.model_validate(row.record())


class BatchRows(BaseModel):
    """Rows of a batch; `next` is the `after` of the next request."""

    rows: list[BatchRowHead]
    next: int
    scored: bool = Field(description="all rows are there, with their scores; ask no more")
