"""Response models beside the library's types: summaries of papers and tables, pages of lists, jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from pydantic import BaseModel, Field

from paperscope_core.codec import from_json
from paperscope_core.types import (
    Element,
    Job,
    JobKind,
    JobState,
    Page,
    PageProblem,
    Paper,
    PaperEntry,
    PaperFormat,
    PaperImages,
    Place,
    Section,
    Shortfall,
    Table,
)
from service.batch import BatchSummary
from service.jobs.requests import AddRequest, AddResult, BatchRequest

__all__ = [
    "ConnectedEntities",
    "ConnectedEntity",
    "ElementList",
    "JobView",
    "PaperHead",
    "PaperList",
    "PaperView",
    "TableHead",
    "TableList",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperHead:
    """A paper in short: `file` is its file's name, `counts` are its elements by kind, `revision` is the library's when
    it was added, and `year` is null if the paper does not state it."""

    id: str
    title: str
    authors: tuple[str, ...]
    file: str
    sha256: str
    revision: int
    counts: Mapping[str, int]
    year: int | None = None

    @classmethod
    def of(cls, entry: PaperEntry, counts: Mapping[str, int]) -> Self:
        """The head of a paper with these numbers of elements by kind."""
        return cls(
            id=entry.id,
            title=entry.title,
            authors=entry.authors,
            year=entry.year,
            file=entry.file,
            sha256=entry.sha256,
            revision=entry.revision,
            counts=counts,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperList:
    """A page of the library's papers in the order they were added; `total` counts all of them."""

    papers: tuple[PaperHead, ...]
    total: int
    limit: int
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperView:
    """A paper without its elements: head, pages (in points), sections, what the parser could not read (`problems`),
    what a vision model read in its images (`images`), and what the extraction model did not read (`shortfall`)."""

    head: PaperHead
    format: PaperFormat
    pages: tuple[Page, ...]
    sections: tuple[Section, ...]
    problems: tuple[PageProblem, ...]
    images: PaperImages
    shortfall: Shortfall

    @classmethod
    def of(cls, head: PaperHead, paper: Paper, *, images: PaperImages, shortfall: Shortfall) -> Self:
        """The view of a paper."""
        return cls(
            head=head,
            format=paper.format,
            pages=paper.pages,
            sections=paper.sections,
            problems=paper.problems,
            images=images,
            shortfall=shortfall,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ElementList:
    """A page of a paper's elements in reading order; `total` counts all that were asked for."""

    elements: tuple[Element, ...]
    total: int
    limit: int
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TableHead:
    """A table without its cells; `rows` and `columns` include headers, and `confidence` (0 to 1) is the parser's own
    check of the grid."""

    id: str
    label: str
    caption: str
    place: Place
    section: str
    rows: int
    columns: int
    header_rows: int
    confidence: float
    crop: str | None = None

    @classmethod
    def of(cls, table: Table) -> Self:
        """The head of a table."""
        rows, columns = table.shape
        return cls(
            id=table.id,
            label=table.label,
            caption=table.caption,
            place=table.place,
            section=table.section,
            rows=rows,
            columns=columns,
            header_rows=table.header_rows,
            confidence=table.confidence,
            crop=table.crop,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TableList:
    """A paper's tables in reading order."""

    tables: tuple[TableHead, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectedEntity:
    """An entity's name and the number of its relations."""

    name: str
    relations: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectedEntities:
    """A paper's entities with the most relations, in descending order."""

    entities: tuple[ConnectedEntity, ...]


class JobView(BaseModel):
    """A job: what it is about, its progress and its result."""

    id: str
    kind: JobKind = Field(description="add: a paper; batch: the questions of a file")
    name: str = Field(description="the file's name as uploaded")
    state: JobState
    stage: str = Field(description="the current stage, such as parsing")
    done: int = Field(description="how much of the stage is done: pages, images, questions")
    total: int = Field(description="how much the stage has; 0 if it can't be counted")
    cancelling: bool = Field(description="it was asked to stop, and has not yet")
    attempts: int = Field(description="how often it was started; more than once if a worker died")
    error: str = Field(description="why it failed, and what helps")
    result: AddResult | BatchSummary | None = Field(description="its result, once it has succeeded")
    created: datetime
    started: datetime | None
    finished: datetime | None

    @classmethod
    def of(cls, job: Job) -> Self:
        """The view of a job."""
        request: AddRequest | BatchRequest
        result: AddResult | BatchSummary | None
        if job.kind == "add":
            request = from_json(AddRequest, job.request)
            result = from_json(AddResult, job.result) if job.result else None
        else:
            request = from_json(BatchRequest, job.request)
            result = from_json(BatchSummary, job.result) if job.result else None
        return cls(
            id=job.id,
            kind=job.kind,
            name=request.name,
            state=job.state,
            stage=job.stage,
            done=job.done,
            total=job.total,
            cancelling=job.cancelling,
            attempts=job.attempts,
            error=job.error,
            result=result,
            created=datetime.fromtimestamp(job.created, UTC),
            started=_time(job.started),
            finished=_time(job.finished),
        )


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
