"""What the routes show of a library, beside the values of `paperscope.types`: papers in short, lists in parts."""

from collections.abc import Mapping
from dataclasses import dataclass

from paperscope.types import (
    Element,
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

__all__ = [
    "ConnectedEntities",
    "ConnectedEntity",
    "ElementList",
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
