"""The whole library at one revision: what an index that is kept in memory reads."""

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from numpy import float32
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from graph_store.merged_graph import merge_entities, merge_relations
from graph_store.reading import Searchable, read_entries, read_revision, read_searchable, read_values
from graph_store.schema import additions, changes, papers, relations
from graph_store.short_forms import read_homes
from paperscope_core.errors import StoreDamagedError
from paperscope_core.types import Chunk, Entity, PaperEntry, Relation

__all__ = ["Snapshot", "SnapshotReader"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Snapshot:
    """Everything that can be retrieved at one revision, without the papers that are damaged.

    Attributes:
        papers: The papers by id, in the order of addition.
        added: When each paper was added, in seconds since the epoch.
        embedders: The name of the embedder of each paper's vectors.
        chunks: The chunks by id, in the order of papers and reading.
        vectors: The chunks' vectors of shape (d,), by id.
        entities: The merged entities by their id in the library.
        relations: The merged relations between different entities.
    """

    revision: int
    papers: Mapping[str, PaperEntry]
    damaged: tuple[str, ...]
    added: Mapping[str, float]
    embedders: Mapping[str, str]
    chunks: Mapping[str, Chunk]
    vectors: Mapping[str, NDArray[float32]]
    entities: Mapping[str, Entity]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Part:
    """What a paper contributes, under its own ids of entities."""

    searchable: Searchable
    relations: Sequence[Relation]


class SnapshotReader:
    """Reads snapshots of one library, and each version of a paper once; safe for several threads."""

    def __init__(self) -> None:
        # None for a paper that is damaged. The token tells the histories of a restored library apart.
        self._parts: dict[tuple[str, str], _Part | None] = {}
        self._lock = threading.Lock()

    def read(self, connection: Connection) -> Snapshot:
        """Read the library as it is in this transaction; a paper that is damaged is reported once."""
        with self._lock:
            self._parts = {
                version: self._parts[version] if version in self._parts else _read_part(connection, version[0])
                for version in _versions(connection)
            }
            parts = {paper: part for (paper, _), part in self._parts.items() if part is not None}
            damaged = tuple(paper for (paper, _), part in self._parts.items() if part is None)
        homes = read_homes(connection)
        entities = merge_entities(
            one for paper, part in parts.items() for one in _at_home(part.searchable.entities, homes.get(paper, {}))
        )
        merged = merge_relations(
            one for paper, part in parts.items() for one in _between_homes(part.relations, homes.get(paper, {}))
        )
        return Snapshot(
            revision=read_revision(connection),
            papers={entry.id: entry for entry in read_entries(connection) if entry.id in parts},
            damaged=damaged,
            added={row.paper: row.time for row in connection.execute(select(additions))},
            embedders={paper: part.searchable.embedder for paper, part in parts.items()},
            chunks={chunk.id: chunk for part in parts.values() for chunk in part.searchable.chunks},
            vectors={
                chunk.id: vector
                for part in parts.values()
                for chunk, vector in zip(part.searchable.chunks, part.searchable.vectors, strict=True)
            },
            entities={key: entities[key] for key in sorted(entities)},
            relations=tuple(
                merged[key]
                for key in sorted(merged)
                if merged[key].source in entities and merged[key].target in entities
            ),
        )


def _versions(connection: Connection) -> list[tuple[str, str]]:
    """Return the papers in the order of addition, each with the token of its version."""
    query = select(papers.c.id, changes.c.token).join_from(papers, changes, changes.c.revision == papers.c.revision)
    return [(row.id, row.token) for row in connection.execute(query.order_by(papers.c.revision))]


def _read_part(connection: Connection, paper: str) -> _Part | None:
    try:
        return _Part(
            searchable=read_searchable(connection, paper),
            relations=read_values(connection, relations, Relation, paper=paper),
        )
    except StoreDamagedError as error:
        _log.warning("%s; until then, it is not searched", error)
        return None


def _at_home(found: Iterable[Entity], homes: Mapping[str, str]) -> Iterator[Entity]:
    """Yield the entities of a paper with their ids in the library."""
    for entity in found:
        yield replace(entity, id=homes[entity.id]) if entity.id in homes else entity


def _between_homes(found: Iterable[Relation], homes: Mapping[str, str]) -> Iterator[Relation]:
    """Yield the relations of a paper with the library's ids, without those of an entity to itself."""
    for relation in found:
        if relation.source in homes or relation.target in homes:
            source, target = (homes.get(end, end) for end in (relation.source, relation.target))
            moved = replace(relation, source=source, target=target)
        else:
            moved = relation
        if moved.source != moved.target:
            yield moved
