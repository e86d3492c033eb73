"""Checks, writes and removes the rows of a paper."""

import secrets
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from sqlalchemy import Connection, Table, delete, func, select, update

from graph_store.schema import (
    additions,
    bylines,
    changes,
    chunk_elements,
    chunks,
    elements,
    entities,
    images,
    literature_cells,
    notes,
    other_files,
    paper_crops,
    papers,
    publications,
    relations,
    shortfalls,
    tags,
    vectors,
    verdicts,
)
from graph_store.short_forms import insert_short_forms, refresh_meanings, short_forms_of, shorts_of
from paperscope_core.codec import to_json
from paperscope_core.publication import complete_publication
from paperscope_core.types import UNPUBLISHED, IndexedPaper, Paper, PaperImages, Shortfall, crops_of

__all__ = [
    "crops_of_paper",
    "put_paper",
    "put_record",
    "remove_paper",
    "validate",
]

Row = dict[str, object]


def validate(indexed: IndexedPaper) -> None:
    """Raise ValueError, quoting the id, if a part of the paper references an id that does not exist."""
    paper, extraction = indexed.paper, indexed.extraction
    elements = _distinct("element", [element.id for element in paper.elements])
    _distinct("chunk", [chunk.id for chunk in indexed.chunks])
    entities = {entity.id for entity in extraction.entities}
    for chunk in indexed.chunks:
        if chunk.paper != paper.id:
            raise ValueError(f"chunk {chunk.id!r} belongs to paper {chunk.paper!r}, not to {paper.id!r}")
        _require("element", chunk.elements, elements, of=f"chunk {chunk.id!r}")
    for entity in extraction.entities:
        _require("element", entity.sources, elements, of=f"entity {entity.id!r}")
    for relation in extraction.relations:
        of = f"relation {relation.source!r} -{relation.kind}-> {relation.target!r}"
        _require("entity", (relation.source, relation.target), entities, of=of)
        _require("element", relation.sources, elements, of=of)
        if not 0 <= relation.weight < float("inf"):
            raise ValueError(f"{of} has the weight {relation.weight}; weights are finite and not negative")
    readings = [reading.element for reading in indexed.images.readings]
    _require("element", _distinct("image reading", readings), elements, of="an image reading")
    _check_vectors(indexed)


def crops_of_paper(paper: Paper) -> set[str]:
    """Return the crops that a paper's elements name."""
    return {crop for element in paper.elements for crop in crops_of(element)}


def _check_vectors(indexed: IndexedPaper) -> None:
    shape = indexed.vectors.shape
    if len(shape) != 2 or shape[0] != len(indexed.chunks):
        raise ValueError(f"vectors of shape {shape} for {len(indexed.chunks)} chunks; one row per chunk is needed")
    if not np.isfinite(indexed.vectors).all():
        raise ValueError(f"the vectors of paper {indexed.paper.id!r} contain infinite or undefined numbers")


def _distinct(kind: str, ids: Sequence[str]) -> set[str]:
    for key, count in Counter(ids).items():
        if count > 1:
            raise ValueError(f"{kind} {key!r} occurs twice; ids are unique")
    return set(ids)


def _require(kind: str, ids: Iterable[str], known: set[str], *, of: str) -> None:
    for key in ids:
        if key not in known:
            raise ValueError(f"{of} names {kind} {key!r}, which its paper does not have")


def put_paper(
    connection: Connection, indexed: IndexedPaper, *, source: str, embedder: str, replaces: str | None = None
) -> int:
    """Write a paper, replacing the paper `replaces` and any with the same id; return the new revision. Raises
    ValueError if its vectors differ in length from others of the same embedder."""
    paper, extraction = indexed.paper, indexed.extraction
    if replaces is not None and replaces != paper.id:
        remove_paper(connection, replaces)
        _move_tags_and_notes(connection, replaces, paper.id)
    _delete(connection, paper.id)
    revision = _log(connection, paper.id, "added")
    _check_dimension(connection, indexed, embedder=embedder)
    connection.execute(
        papers.insert().values(
            id=paper.id,
            revision=revision,
            title=paper.title,
            file=paper.file,
            source=source,
            sha256=paper.sha256,
            embedder=embedder,
            value=to_json(replace(paper, elements=())),
        )
    )
    _insert_publication(connection, paper)
    connection.execute(additions.insert(), {"paper": paper.id, "time": time.time()})
    others = {one.sha256: one.source for one in paper.others}
    _insert(connection, other_files, [{"paper": paper.id, "sha256": key, "source": one} for key, one in others.items()])
    _insert_values(connection, elements, paper.id, paper.elements)
    _insert(connection, paper_crops, [{"paper": paper.id, "crop": crop} for crop in sorted(crops_of_paper(paper))])
    _insert_chunks(connection, indexed)
    _insert_values(connection, entities, paper.id, extraction.entities)
    _insert_values(connection, relations, paper.id, extraction.relations)
    _insert_values(connection, verdicts, paper.id, extraction.verdicts)
    insert_short_forms(connection, paper.id, short_forms_of(extraction))
    refresh_meanings(connection, shorts_of(connection, paper.id))
    if indexed.images != PaperImages():
        row: Row = {"paper": paper.id, "reader": indexed.images.reader, "value": to_json(indexed.images)}
        connection.execute(images.insert(), row)
    if extraction.shortfall != Shortfall():
        connection.execute(shortfalls.insert(), {"paper": paper.id, "value": to_json(extraction.shortfall)})
    return revision


def put_record(connection: Connection, paper: Paper) -> int | None:
    """Write the title, the authors and the publication of a stored paper; return the new revision, or None if it has
    been removed."""
    if connection.execute(select(papers.c.id).where(papers.c.id == paper.id)).first() is None:
        return None
    revision = _log(connection, paper.id, "added")
    row = {"revision": revision, "title": paper.title, "value": to_json(replace(paper, elements=()))}
    connection.execute(papers.update().where(papers.c.id == paper.id).values(row))
    for table in (bylines, publications):
        connection.execute(delete(table).where(table.c.paper == paper.id))
    _insert_publication(connection, paper)
    return revision


def remove_paper(connection: Connection, paper: str) -> int | None:
    """Remove a paper with all its rows; return the new revision, or None if there is no such paper."""
    return _log(connection, paper, "removed") if _delete(connection, paper) else None


def _log(connection: Connection, paper: str, action: Literal["added", "removed"]) -> int:
    """Log a change; return its revision."""
    newest = connection.execute(select(func.max(changes.c.revision))).scalar() or 0
    connection.execute(
        changes.insert().values(revision=newest + 1, paper=paper, action=action, token=secrets.token_hex(8))
    )
    return int(newest) + 1


def _delete(connection: Connection, paper: str) -> bool:
    """Delete a paper's rows; return whether it existed."""
    shorts = shorts_of(connection, paper)
    known = connection.execute(delete(papers).where(papers.c.id == paper)).rowcount > 0
    cells = literature_cells.c
    connection.execute(delete(literature_cells).where(cells.paper == paper, cells.correction.is_(None)))
    refresh_meanings(connection, shorts)
    return known


def _move_tags_and_notes(connection: Connection, old: str, new: str) -> None:
    """Give a paper what people said about the one that it replaces."""
    has = select(tags.c.name).where(tags.c.paper == new).scalar_subquery()
    connection.execute(update(tags).where(tags.c.paper == old, tags.c.name.not_in(has)).values(paper=new))
    connection.execute(update(notes).where(notes.c.paper == old).values(paper=new))


def _insert_values(connection: Connection, table: Table, paper: str, values: Iterable[object]) -> None:
    """Write a paper's values in order, each as JSON; the table's other columns are fields of the value."""
    columns = set(table.c.keys()) - {"paper", "position", "value"}
    rows = [
        {"paper": paper, "position": position, "value": to_json(value)}
        | {column: getattr(value, column) for column in columns}
        for position, value in enumerate(values)
    ]
    _insert(connection, table, rows)


def _insert_publication(connection: Connection, paper: Paper) -> None:
    """Write by whom, when and where a paper was published."""
    # An imported paper does not state it.
    known = paper.publication if paper.publication != UNPUBLISHED else complete_publication(paper)
    authors = "\n".join(" ".join(author.split()) for author in paper.authors)
    connection.execute(bylines.insert(), {"paper": paper.id, "authors": authors, "year": known.year})
    row = {"paper": paper.id, "venue": known.venue, "doi": known.doi, "arxiv": known.arxiv}
    connection.execute(publications.insert(), row)


def _check_dimension(connection: Connection, indexed: IndexedPaper, *, embedder: str) -> None:
    query = (
        select(func.length(vectors.c.vector))
        .join(chunks, chunks.c.number == vectors.c.chunk)
        .join(papers, papers.c.id == chunks.c.paper)
        .where(papers.c.embedder == embedder)
        .limit(1)
    )
    length = 4 * indexed.vectors.shape[1]
    # A damaged vector may have any length.
    agrees = connection.execute(query.where(func.length(vectors.c.vector) == length)).scalar() is not None
    known = None if agrees else connection.execute(query).scalar()
    if known is not None and indexed.chunks:
        raise ValueError(
            f"paper {indexed.paper.id!r} has vectors of {indexed.vectors.shape[1]} numbers; those of embedder "
            f"{embedder!r} have {known // 4} in this library; give other weights another name"
        )


def _insert(connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
    if rows:
        connection.execute(table.insert(), rows)


def _insert_chunks(connection: Connection, indexed: IndexedPaper) -> None:
    rows = [{"id": chunk.id, "paper": chunk.paper, "value": to_json(chunk)} for chunk in indexed.chunks]
    _insert(connection, chunks, rows)
    found = connection.execute(select(chunks.c.id, chunks.c.number).where(chunks.c.paper == indexed.paper.id))
    numbers = {row.id: row.number for row in found}
    members = [
        {"chunk": numbers[chunk.id], "element": element}
        for chunk in indexed.chunks
        for element in dict.fromkeys(chunk.elements)
    ]
    _insert(connection, chunk_elements, members)
    blobs = zip(indexed.chunks, np.ascontiguousarray(indexed.vectors, dtype="<f4"), strict=True)
    _insert(connection, vectors, [{"chunk": numbers[chunk.id], "vector": row.tobytes()} for chunk, row in blobs])
