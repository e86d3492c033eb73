"""The response models: papers, tables, entities and jobs as the routes show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

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
from service.batch.summary import BatchSummary
from service.jobs.requests import AddJobResult, AddRequest, BatchRequest

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
    "head_of",
    "table_head_of",
    "view_of",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperHead:
    """A paper in short. `file` is its file's name, `counts` says how many elements of each kind it has; `revision` is
    that of the library when it was added, `year` is null where the paper does not say it."""

    id: str
    title: str
    authors: tuple[str, ...]
    file: str
    sha256: str
    revision: int
    counts: Mapping[str, int]
    year: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperList:
    """A part of the library's papers, in the order they were added; `total` is how many there are."""

    papers: tuple[PaperHead, ...]
    total: int
    limit: int
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperView:
    """A paper without its elements: head, pages (points), sections, what could not be read (`problems`), what a vision
    model saw in its pictures (`images`), and what the extracting model did not read (`shortfall`)."""

    head: PaperHead
    format: PaperFormat
    pages: tuple[Page, ...]
    sections: tuple[Section, ...]
    problems: tuple[PageProblem, ...]
    images: PaperImages
    shortfall: Shortfall


@dataclass(frozen=True, kw_only=True, slots=True)
class ElementList:
    """A part of a paper's elements in reading order; `total` is how many of them were asked for."""

    elements: tuple[Element, ...]
    total: int
    limit: int
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TableHead:
    """A table without its cells; `rows` and `columns` count all of them, headers included, and `confidence` (0 to 1) is
    the parser's own check of the grid."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class TableList:
    """A paper's tables in reading order."""

    tables: tuple[TableHead, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectedEntity:
    """An entity's name, and in how many relations it stands."""

    name: str
    relations: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectedEntities:
    """A paper's entities with most relations, most first."""

    entities: tuple[ConnectedEntity, ...]


def head_of(entry: PaperEntry, counts: Mapping[str, int]) -> PaperHead:
    """A paper in short."""
    return PaperHead(
        id=entry.id,
        title=entry.title,
        authors=entry.authors,
        year=entry.year,
        file=entry.file,
        sha256=entry.sha256,
        revision=entry.revision,
        counts=counts,
    )


def view_of(head: PaperHead, paper: Paper, *, images: PaperImages, shortfall: Shortfall) -> PaperView:
    """A paper without its elements."""
    return PaperView(
        head=head,
        format=paper.format,
        pages=paper.pages,
        sections=paper.sections,
        problems=paper.problems,
        images=images,
        shortfall=shortfall,
    )


def table_head_of(table: Table) -> TableHead:
    """A table without its cells."""
    rows, columns = table.shape
    return TableHead(
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


class JobView(BaseModel):
    """A job: what it is about, how far it is, and what came of it."""

    id: str
    kind: JobKind = Field(description="add: a paper; batch: the questions of a file")
    name: str = Field(description="the file's name, as it was handed over")
    state: JobState
    stage: str = Field(description="what is being done, such as parsing")
    done: int = Field(description="how much of the stage is done: pages, pictures, questions")
    total: int = Field(description="how much there is; 0 where it can't be counted")
    cancelling: bool = Field(description="it was asked to stop, and has not yet")
    attempts: int = Field(description="how often it was begun; more than once where a worker died of it")
    error: str = Field(description="why it failed, and what helps")
    result: AddJobResult | BatchSummary | None = Field(description="what it came to, once it has succeeded")
    created: datetime
    started: datetime | None
    finished: datetime | None

    @classmethod
    def of(cls, job: Job) -> "JobView":
        """The view of a job."""
        asked: AddRequest | BatchRequest
        result: AddJobResult | BatchSummary | None
        if job.kind == "add":
            asked, result = (
                from_json(AddRequest, job.request),
                from_json(AddJobResult, job.result) if job.result else None,
            )
        else:
            asked = from_json(BatchRequest, job.request)
            result = from_json(BatchSummary, job.result) if job.result else None
        return cls(
            id=job.id,
            kind=job.kind,
            name=asked.name,
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
