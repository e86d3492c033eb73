"""Reads papers, elements, chunks and the log of changes."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from typing import Literal, NamedTuple, TypeVar, cast

import numpy as np
from numpy import float32, int64
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select, Table, bindparam, case, func, select

from graph_store import schema
from graph_store.functions import is_json, json_length, json_text
from graph_store.schema import changes, given
from paperscope_core import types
from paperscope_core.codec import from_json
from paperscope_core.errors import (
    NotFoundError,
    StoreDamagedError,
    UnknownCropError,
    UnknownElementError,
    UnknownPaperError,
)
from paperscope_core.types import (
    Chunk,
    Element,
    ElementHead,
    Entity,
    Extraction,
    IndexedPaper,
    Paper,
    PaperEntry,
    PaperImages,
    Publication,
    Relation,
    Shortfall,
    Verdict,
)

__all__ = [
    "Change",
    "Checkpoint",
    "Edge",
    "Searchable",
    "is_sound",
    "paper_of",
    "read_changes",
    "read_checkpoint",
    "read_chunks",
    "read_chunks_of",
    "read_counts",
    "read_crop_names",
    "read_edges",
    "read_elements",
    "read_embedder",
    "read_entries",
    "read_entry",
    "read_images",
    "read_indexed",
    "read_newest_embedder",
    "read_page_counts",
    "read_paper",
    "read_paper_chunks",
    "read_paper_revision",
    "read_publications",
    "read_revision",
    "read_searchable",
    "read_shortfall",
    "read_value",
    "read_values",
    "read_vector",
    "require_crop",
    "unknown_paper",
]

T = TypeVar("T")

_ELEMENT_KINDS: dict[str, type[Element]] = {
    "passage": types.Passage,
    "table": types.Table,
    "figure": types.Figure,
    "equation": types.Equation,
    "reference": types.Reference,
}
# Rounding makes a vector at most a millionth longer; a vector of 384 numbers that lost one in fifty is 1 % shorter.
_MAX_DEVIATION = 0.001
# Decoded values that are kept in memory, and the longest text of one: some 30 MB, at most 130 MB with their texts.
_CACHED_VALUES = 8192
_MAX_CACHED_LENGTH = 8192


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """A point in the library's history; the random `token` distinguishes histories that reach the same revision."""

    revision: int = 0
    token: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """The effect of one revision on one paper."""

    checkpoint: Checkpoint
    paper: str
    action: Literal["added", "removed"]


class Edge(NamedTuple):
    """All relations from one entity to another, with the sum of their weights."""

    source: str
    target: str
    weight: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Searchable:
    """The part of a paper that an index needs. `numbers` are the chunks' row numbers in the store; `vectors` has one
    row per chunk; `edges` are its relations, between the ids that it uses."""

    paper: str
    chunks: tuple[Chunk, ...]
    numbers: NDArray[int64]
    embedder: str
    vectors: NDArray[float32]
    entities: tuple[Entity, ...]
    edges: Sequence[Edge]


def read_entries(connection: Connection, *conditions: ColumnElement[bool]) -> list[PaperEntry]:
    """Return the papers that meet the conditions, without their elements, in the order they were added."""
    papers, bylines, publications = schema.papers, schema.bylines, schema.publications
    columns = [papers.c[field.name] for field in fields(PaperEntry) if field.name in papers.c]
    published = [publications.c[name] for name in ("venue", "doi", "arxiv")]
    query = select(*columns, bylines.c.authors, bylines.c.year, *published)
    query = query.select_from(papers.join(bylines).join(publications, publications.c.paper == papers.c.id))
    query = query.where(*conditions).order_by(papers.c.revision)
    rows = connection.execute(query).mappings()
    return [PaperEntry(**{**row, "authors": tuple(row["authors"].splitlines())}) for row in rows]


def read_entry(connection: Connection, paper: str) -> PaperEntry:
    """Return the paper with this id, without its elements."""
    entries = read_entries(connection, schema.papers.c.id == paper)
    if not entries:
        raise unknown_paper(paper)
    return entries[0]


def read_counts(connection: Connection, papers: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the number of elements of each kind of these papers."""
    table = schema.elements
    query = select(table.c.paper, table.c.kind, func.count().label("count")).where(table.c.paper.in_(papers))
    counts: dict[str, dict[str, int]] = {paper: {} for paper in papers}
    for row in connection.execute(query.group_by(table.c.paper, table.c.kind).order_by(table.c.kind)):
        counts[row.paper][row.kind] = row[2]
    return counts


def read_page_counts(connection: Connection, papers: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the number of pages of these papers, and of problems that their parser reported. No paper is decoded, and
    a damaged one is left out."""
    table = schema.papers
    value = case((is_json(table.c.value), table.c.value))
    lengths = (json_length(value, path) for path in ("$.pages", "$.problems"))
    query = select(table.c.id, *(func.coalesce(length, 0) for length in lengths))
    query = query.where(table.c.id.in_(papers), value.is_not(None))
    return {paper: (pages, problems) for paper, pages, problems in connection.execute(query)}


def read_publications(connection: Connection, papers: Sequence[str]) -> dict[str, Publication]:
    """Return where these papers were published, with what records say. No paper is decoded, and a damaged one is left
    out."""
    table = schema.papers
    value = json_text(case((is_json(table.c.value), table.c.value)), "$.publication")
    query = select(table.c.id, value.label("value")).where(table.c.id.in_(papers), value.is_not(None))
    found: dict[str, Publication] = {}
    for row in connection.execute(query):
        with suppress(ValueError):
            found[row.id] = from_json(Publication, row.value)
    return found


def read_embedder(connection: Connection, paper: str) -> str:
    """Return the name of the embedder that made a paper's vectors."""
    query = select(schema.papers.c.embedder).where(schema.papers.c.id == paper)
    name: str = _one(connection, query, missing=unknown_paper(paper))
    return name


def read_newest_embedder(connection: Connection) -> str:
    """Return the name of the embedder that made the newest paper's vectors; "" for an empty library."""
    table = schema.papers
    return connection.execute(select(table.c.embedder).order_by(table.c.revision.desc()).limit(1)).scalar() or ""


def read_paper_revision(connection: Connection, paper: str) -> int:
    """Return the revision that added a paper."""
    return _one(connection, _revision_query(), {"paper": paper}, missing=unknown_paper(paper))


def read_paper(connection: Connection, paper: str) -> Paper:
    """Return a paper with its elements."""
    head = _one(connection, _head_query(), {"paper": paper}, missing=unknown_paper(paper))
    rows = connection.execute(_elements_query(), {"paper": paper}).all()
    values: dict[str, list[str]] = defaultdict(list)
    for kind, value in rows:
        values[kind].append(value)
    found = {kind: iter(_read_all(_ELEMENT_KINDS[kind], of_kind, paper=paper)) for kind, of_kind in values.items()}
    return replace(read_value(Paper, head, paper=paper), elements=tuple(next(found[kind]) for kind, _ in rows))


# Building a statement takes longer than running it.
@cache
def _revision_query() -> Select[int]:
    return select(schema.papers.c.revision).where(schema.papers.c.id == bindparam("paper"))


@cache
def _newest_query() -> Select[int]:
    return select(func.max(changes.c.revision))


@cache
def _head_query() -> Select[str]:
    return select(schema.papers.c.value).where(schema.papers.c.id == bindparam("paper"))


@cache
def _elements_query() -> Select[str, str]:
    table = schema.elements
    return select(table.c.kind, table.c.value).where(table.c.paper == bindparam("paper")).order_by(table.c.position)


@cache
def _paper_chunks_query() -> Select[str]:
    table = schema.chunks
    return select(table.c.value).where(table.c.paper == bindparam("paper")).order_by(table.c.number)


@cache
def _chunks_query() -> Select[str, str]:
    return select(schema.chunks.c.id, schema.chunks.c.value).where(schema.chunks.c.id.in_(given("ids")))


def read_elements(connection: Connection, ids: Sequence[str]) -> dict[str, Element]:
    """Return the elements with these ids, in this order."""
    table = schema.elements
    rows = connection.execute(select(table.c.id, table.c.kind, table.c.value).where(table.c.id.in_(ids)))
    found = {row.id: read_value(_ELEMENT_KINDS[row.kind], row.value, paper=paper_of(row.id)) for row in rows}
    return _in_order(found, ids)


def read_heads(
    connection: Connection, *, kinds: Sequence[str], papers: Sequence[str] | None = None
) -> list[ElementHead]:
    """Return the elements of these kinds without their content, of these papers or of all, in the order of addition."""
    table = schema.elements
    of = schema.papers.c
    query = select(table.c.kind, table.c.value, of.id, of.title, of.file).join(schema.papers, of.id == table.c.paper)
    query = query.where(table.c.kind.in_(kinds)).order_by(of.revision, table.c.position)
    rows = connection.execute(query if papers is None else query.where(of.id.in_(papers)))
    return [
        replace(read_value(ElementHead, row.value, paper=row.id), kind=row.kind, title=row.title or row.file)
        for row in rows
    ]


def _in_order(found: Mapping[str, T], ids: Sequence[str]) -> dict[str, T]:
    for key in ids:
        if key not in found:
            raise UnknownElementError(key)
    return {key: found[key] for key in ids}


def read_chunks(connection: Connection, ids: Sequence[str]) -> dict[str, Chunk]:
    """Return the chunks with these ids, in this order."""
    rows = connection.execute(_chunks_query(), {"ids": list(ids)}).all()
    found = {key: read_value(Chunk, value, paper=paper_of(key)) for key, value in rows}
    return _in_order(found, ids)


def read_paper_chunks(connection: Connection, paper: str) -> tuple[Chunk, ...]:
    """Return the chunks of a paper, in the order of their numbers."""
    return _read_all(Chunk, connection.execute(_paper_chunks_query(), {"paper": paper}).scalars().all(), paper=paper)


def read_chunks_of(connection: Connection, elements: Sequence[str]) -> list[Chunk]:
    """Return the chunks that contain any of these elements, without repeats, in the order of the elements."""
    wanted = list(dict.fromkeys(elements))
    table, members = schema.chunks, schema.chunk_elements
    rows = connection.execute(
        select(members.c.element, table.c.number, table.c.value)
        .join_from(members, table, table.c.number == members.c.chunk)
        .where(members.c.element.in_(wanted))
        .order_by(table.c.number)
    )
    holders: dict[str, dict[int, str]] = defaultdict(dict)
    for row in rows:
        holders[row.element][row.number] = row.value
    missing = [element for element in wanted if element not in holders]
    known = set(connection.execute(select(schema.elements.c.id).where(schema.elements.c.id.in_(missing))).scalars())
    if unknown := [element for element in missing if element not in known]:
        raise UnknownElementError(unknown[0])
    found = {
        number: (value, paper_of(element)) for element in wanted for number, value in holders.get(element, {}).items()
    }
    return [read_value(Chunk, value, paper=paper) for value, paper in found.values()]


def read_indexed(connection: Connection, paper: str) -> IndexedPaper:
    """Return a paper with everything that it added to the library."""
    searchable = read_searchable(connection, paper)
    return IndexedPaper(
        paper=read_paper(connection, paper),
        chunks=searchable.chunks,
        extraction=Extraction(
            entities=searchable.entities,
            relations=read_values(connection, schema.relations, Relation, paper=paper),
            shortfall=read_shortfall(connection, paper),
            verdicts=read_values(connection, schema.verdicts, Verdict, paper=paper),
        ),
        vectors=searchable.vectors,
        images=read_images(connection, paper),
    )


def read_images(connection: Connection, paper: str) -> PaperImages:
    """Return the readings of a paper's images; empty if no model read them."""
    return _single_value(connection, schema.images, PaperImages, paper=paper) or PaperImages()


def read_shortfall(connection: Connection, paper: str) -> Shortfall:
    """Return what is missing from a model's extraction of a paper."""
    return _single_value(connection, schema.shortfalls, Shortfall, paper=paper) or Shortfall()


def read_searchable(connection: Connection, paper: str) -> Searchable:
    """Return the part of a paper that an index needs."""
    embedder = read_embedder(connection, paper)
    table, vectors = schema.chunks, schema.vectors
    rows = connection.execute(
        select(table.c.number, table.c.value, vectors.c.vector)
        .join_from(table, vectors, vectors.c.chunk == table.c.number, isouter=True)
        .where(table.c.paper == paper)
        .order_by(table.c.number)
    ).all()
    if any(row.vector is None for row in rows):
        raise StoreDamagedError(paper)
    return Searchable(
        paper=paper,
        chunks=_read_all(Chunk, [row.value for row in rows], paper=paper),
        numbers=np.array([row.number for row in rows], dtype=np.int64),
        embedder=embedder,
        vectors=_matrix([row.vector for row in rows], paper=paper),
        entities=read_values(connection, schema.entities, Entity, paper=paper),
        edges=read_edges(connection, [paper])[paper],
    )


def read_edges(connection: Connection, papers: Sequence[str]) -> dict[str, list[Edge]]:
    """Return the relations of these papers, between the ids that each uses."""
    table = schema.relations
    query = select(table.c.paper, table.c.source, table.c.target, table.c.weight).where(table.c.paper.in_(papers))
    found: dict[str, list[Edge]] = {paper: [] for paper in papers}
    for paper, source, target, weight in connection.execute(query.order_by(table.c.paper, table.c.position)):
        found[paper].append(Edge(source, target, weight))
    return found


def read_crop_names(connection: Connection) -> dict[str, str]:
    """Return the crops that papers name, each with one of these papers."""
    table = schema.paper_crops
    query = select(table.c.crop, func.min(table.c.paper).label("paper")).group_by(table.c.crop).order_by(table.c.crop)
    return {row.crop: row.paper for row in connection.execute(query)}


def require_crop(connection: Connection, crop: str) -> None:
    """Raise UnknownCropError for a crop that no paper names."""
    query = select(schema.paper_crops.c.crop).where(schema.paper_crops.c.crop == crop)
    _one(connection, query, missing=UnknownCropError(crop))


def _one(
    connection: Connection, query: Select[T], values: Mapping[str, object] | None = None, *, missing: NotFoundError
) -> T:
    row = connection.execute(query, values or {}).first()
    if row is None:
        raise missing
    return row[0]


def unknown_paper(paper: str) -> UnknownPaperError:
    """Return the error for an id that no paper has, or no longer has."""
    return UnknownPaperError(f"no paper {paper!r} in the library; list the papers to see their ids")


def read_values(connection: Connection, table: Table, kind: type[T], *, paper: str) -> tuple[T, ...]:
    """Return a paper's values in a table, in order."""
    query = select(table.c.value).where(table.c.paper == paper).order_by(table.c.position)
    return _read_all(kind, connection.execute(query).scalars().all(), paper=paper)


def _read_all(kind: type[T], values: Sequence[str], *, paper: str) -> tuple[T, ...]:
    """Return the stored values of a paper, read together, which is faster. Raises StoreDamagedError."""
    found: tuple[T, ...] = read_value(tuple[kind, ...], f"[{','.join(values)}]", paper=paper)  # type: ignore[valid-type]
    if len(found) != len(values):
        raise StoreDamagedError(paper)
    return found


def _single_value(connection: Connection, table: Table, kind: type[T], *, paper: str) -> T | None:
    """Return a paper's only value in a table, if it has one."""
    value = connection.execute(select(table.c.value).where(table.c.paper == paper)).scalar()
    return None if value is None else read_value(kind, value, paper=paper)


def read_value(kind: type[T], value: str, *, paper: str) -> T:
    """Return a stored value of a paper. Raises StoreDamagedError."""
    try:
        decode = _decoded if len(value) <= _MAX_CACHED_LENGTH else from_json
        return decode(kind, value)
    except ValueError as error:
        raise StoreDamagedError(paper) from error


# Values do not change, so questions on the same papers share them.
_decoded = cast("Callable[[type[T], str], T]", lru_cache(maxsize=_CACHED_VALUES)(from_json))


def paper_of(key: str) -> str:
    """Return the paper of an element or a chunk."""
    return key.partition("/")[0]


def _matrix(blobs: Sequence[bytes], *, paper: str) -> NDArray[float32]:
    if not blobs:
        return np.zeros((0, 0), dtype=float32)
    if len({len(blob) for blob in blobs}) > 1 or len(blobs[0]) % 4:
        raise StoreDamagedError(paper)
    vectors = np.frombuffer(b"".join(blobs), dtype="<f4").astype(float32).reshape(len(blobs), -1)
    if not is_sound(vectors).all():
        raise StoreDamagedError(paper)
    return vectors


def read_vector(blob: bytes) -> NDArray[float32] | None:
    """Return a stored vector; None if it is damaged."""
    if len(blob) % 4:
        return None
    vector = np.frombuffer(blob, dtype="<f4").astype(float32)
    return vector if is_sound(vector[None])[0] else None


def is_sound(vectors: NDArray[float32]) -> NDArray[np.bool_]:
    """Return whether each row is of unit length, as embedders make it, or zeros, which stand for a text in a language
    that the embedder does not know. Any other row is damaged."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray((np.abs(lengths - 1.0) < _MAX_DEVIATION) | ((lengths == 0.0) & (vectors.shape[1] > 0)))


def read_revision(connection: Connection) -> int:
    """Return the newest revision; 0 for an empty library."""
    return int(connection.execute(_newest_query()).scalar() or 0)


def read_changes(connection: Connection, revision: int) -> list[Change]:
    """Return the changes after a revision, oldest first."""
    rows = connection.execute(select(changes).where(changes.c.revision > revision).order_by(changes.c.revision))
    return [
        Change(checkpoint=Checkpoint(revision=row.revision, token=row.token), paper=row.paper, action=row.action)
        for row in rows
    ]


def read_checkpoint(connection: Connection, revision: int) -> Checkpoint | None:
    """Return the checkpoint of a revision; None if this history has no such revision."""
    if revision == 0:
        return Checkpoint()
    token = connection.execute(select(changes.c.token).where(changes.c.revision == revision)).scalar()
    return None if token is None else Checkpoint(revision=revision, token=token)
