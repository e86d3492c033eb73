"""The whole library at one revision: what an index that is kept in memory reads."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from numpy import float32
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from graph_store import schema
from graph_store.graph import merge_entities, merge_relations
from graph_store.reading import read_entries, read_revision, read_value, read_vector
from graph_store.short_forms import join_meanings
from paperscope_core.errors import StoreDamagedError
from paperscope_core.types import Chunk, Entity, PaperEntry, Relation

__all__ = ["Snapshot", "read_snapshot"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Snapshot:
    """Everything that can be retrieved at one revision, without the papers that are damaged.

    Attributes:
        papers: The papers by id, in the order of addition.
        embedders: The name of the embedder of each paper's vectors.
        chunks: The chunks by id, in the order of papers and reading.
        vectors: The chunks' vectors of shape (d,), by id.
        entities: The merged entities by their id in the library.
        relations: The merged relations between different entities.
    """

    revision: int
    papers: Mapping[str, PaperEntry]
    embedders: Mapping[str, str]
    chunks: Mapping[str, Chunk]
    vectors: Mapping[str, NDArray[float32]]
    entities: Mapping[str, Entity]
    relations: tuple[Relation, ...]


def read_snapshot(connection: Connection) -> Snapshot:
    """Read the library as it is in this transaction."""
    reader = _Reader(connection)
    chunks, vectors = reader.chunks()
    entities, relations = reader.entities(), reader.relations()
    sound = {entry.id: entry for entry in read_entries(connection) if entry.id not in reader.damaged}
    papers = schema.papers
    embedders = {row.id: row.embedder for row in connection.execute(select(papers.c.id, papers.c.embedder))}
    merged = merge_entities(value for paper, value in entities if paper in sound)
    related = merge_relations(value for paper, value in relations if paper in sound and value.source != value.target)
    kept = {chunk.id: chunk for chunk in chunks if chunk.paper in sound}
    return Snapshot(
        revision=read_revision(connection),
        papers=sound,
        embedders={paper: embedders[paper] for paper in sound},
        chunks=kept,
        vectors={chunk: vectors[chunk] for chunk in kept},
        entities=merged,
        relations=tuple(one for one in related.values() if one.source in merged and one.target in merged),
    )


class _Reader:
    """Reads tables; papers with a damaged value are reported once, and collected in `damaged`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.damaged: set[str] = set()

    def chunks(self) -> tuple[list[Chunk], dict[str, NDArray[float32]]]:
        """The chunks, and their vectors by id."""
        table, vectors = schema.chunks, schema.vectors
        query = select(table.c.id, table.c.paper, table.c.value, vectors.c.vector)
        query = query.join_from(table, vectors, vectors.c.chunk == table.c.number).order_by(table.c.number)
        chunks: list[Chunk] = []
        found: dict[str, NDArray[float32]] = {}
        for row in self._connection.execute(query):
            vector = read_vector(row.vector)
            if vector is None:
                self._leave_out(StoreDamagedError(row.paper))
            elif (chunk := self._value(Chunk, row.value, row.paper)) is not None:
                chunks.append(chunk)
                found[chunk.id] = vector
        return chunks, found

    def entities(self) -> list[tuple[str, Entity]]:
        """The papers' entities with the ids of the library, each with its paper."""
        table = schema.entities
        source, (node,) = join_meanings(table, table.c.id)
        query = select(table.c.paper, table.c.value, node.label("node")).select_from(source)
        return [
            (row.paper, replace(value, id=row.node))
            for row in self._connection.execute(query.order_by(node, table.c.paper))
            if (value := self._value(Entity, row.value, row.paper)) is not None
        ]

    def relations(self) -> list[tuple[str, Relation]]:
        """The papers' relations with the ids of the library, each with its paper."""
        table = schema.relations
        joined, (source, target) = join_meanings(table, table.c.source, table.c.target)
        query = select(table.c.paper, table.c.value, source.label("source"), target.label("target"))
        query = query.select_from(joined).order_by(source, target, table.c.kind, table.c.paper)
        return [
            (row.paper, replace(value, source=row.source, target=row.target))
            for row in self._connection.execute(query)
            if (value := self._value(Relation, row.value, row.paper)) is not None
        ]

    def _value(self, kind: type[T], text: str, paper: str) -> T | None:
        try:
            return read_value(kind, text, paper=paper)
        except StoreDamagedError as error:
            self._leave_out(error)
            return None

    def _leave_out(self, error: StoreDamagedError) -> None:
        if error.paper not in self.damaged:
            self.damaged.add(error.paper)
            _log.warning("%s; until then, it is not searched", error)
