"""The relations and entities of papers in memory, for questions on the same papers."""

import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from math import fsum
from typing import NamedTuple

from sqlalchemy import Connection, Select, select

from graph_store.merged_graph import contributed_entity, contributed_relation, merge_entities, merge_relations
from graph_store.reading import Edge, read_revision
from graph_store.schema import entities, given, relations
from graph_store.short_forms import library_ids, read_homes
from paperscope_core.types import Entity, Relation

__all__ = ["CachedGraph", "GraphCache"]

Key = tuple[str, str, str]
Reads = Callable[[], AbstractContextManager[Connection]]

# A paper has some 570 relations, which take 0.4 MB.
_CACHED_PAPERS = 128
# More papers than these are not loaded for a question: in a library of 443 papers, the median question of `bench query`
# takes 59 ms of processor time with 16 and 64 with 3.
_MOST_LOADED = 16
# Ids whose meanings are kept in memory.
_CACHED_IDS = 50_000


class _Relation(NamedTuple):
    """A paper's relation with the library's ids of its ends, and its stored value."""

    paper: str
    source: str
    target: str
    kind: str
    weight: float
    value: str

    @property
    def key(self) -> Key:
        return self.source, self.target, self.kind


@dataclass(frozen=True, kw_only=True, slots=True)
class _PaperGraph:
    """A paper's relations by each of their ends, without those from an entity to itself, and the stored values of its
    entities, both by the library's ids."""

    relations: Mapping[str, Sequence[_Relation]]
    entities: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedGraph:
    """The graph of some papers. Each method returns what the function of the same name in `graph` reads."""

    papers: Mapping[str, _PaperGraph]
    library_ids: Callable[[Sequence[str]], Mapping[str, Sequence[str]]]

    def entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        """See `graph.read_entities`."""
        wanted = self._unambiguous(ids)
        merged = merge_entities(
            contributed_entity(value, paper=paper, key=node)
            for node in set(wanted.values())
            for paper, graph in self.papers.items()
            for value in graph.entities.get(node, ())
        )
        return {key: merged[wanted[key]] for key in ids if key in wanted and wanted[key] in merged}

    def relations(self, ids: Sequence[str], *, limit: int) -> list[Relation]:
        """See `graph.read_relations`."""
        nodes = self._nodes(ids)
        found: dict[Key, list[_Relation]] = defaultdict(list)
        for row in self._touching(nodes):
            found[row.key].append(row)
        weights = {key: fsum(row.weight for row in rows) for key, rows in found.items()}
        inside = {key: key[0] in nodes and key[1] in nodes for key in found}
        ordered = sorted(found, key=lambda key: (not inside[key], -weights[key], key))[: max(limit, 0)]
        rows = (row for key in ordered for row in found[key])
        merged = merge_relations(
            contributed_relation(row.value, paper=row.paper, source=row.source, target=row.target) for row in rows
        )
        return [merged[key] for key in ordered]

    def degrees(self, ids: Sequence[str]) -> dict[str, int]:
        """See `graph.read_degrees`."""
        wanted = self._unambiguous(ids)
        nodes = set(wanted.values())
        keys = {row.key for row in self._touching(nodes)}
        degrees = Counter(end for key in keys for end in key[:2])
        return {key: degrees[node] for key, node in wanted.items() if degrees[node]}

    def edges(self, ids: Sequence[str], *, limit: int) -> list[Edge]:
        """See `graph.read_edges`."""
        weights: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row in self._touching(self._nodes(ids)):
            weights[row.source, row.target].append(row.weight)
        ordered = sorted((-fsum(found), *ends) for ends, found in weights.items())
        return [Edge(source=source, target=target, weight=-weight) for weight, source, target in ordered[:limit]]

    def _touching(self, nodes: set[str]) -> Iterator[_Relation]:
        """Yield the relations of these nodes, each once."""
        for graph in self.papers.values():
            for node in nodes:
                for row in graph.relations.get(node, ()):
                    if row.source == node or row.source not in nodes:
                        yield row

    def _nodes(self, ids: Sequence[str]) -> set[str]:
        return {node for nodes in self.library_ids(ids).values() for node in nodes}

    def _unambiguous(self, ids: Sequence[str]) -> dict[str, str]:
        return {key: nodes[0] for key, nodes in self.library_ids(ids).items() if len(nodes) == 1}


@dataclass(kw_only=True, slots=True)
class _State:
    """What is in memory of one revision of the library."""

    revision: int = 0
    papers: OrderedDict[str, _PaperGraph] = field(default_factory=OrderedDict)
    library_ids: dict[str, Sequence[str]] = field(default_factory=dict)


class GraphCache:
    """Caches the graphs of the papers used last. A change of the library empties it, because the ids of entities depend
    on all papers."""

    def __init__(self) -> None:
        self._state = _State()
        self._lock = threading.Lock()

    def graph(self, papers: Sequence[str], revision: int, read: Reads) -> CachedGraph | None:
        """Return the graph of these papers at a revision.

        Args:
            papers: The papers' ids, at least one.
            revision: The revision.
            read: Begins a read transaction.

        Returns:
            The graph; None if it has to be read from the database: too many papers are not in memory, or there is a
            newer revision.
        """
        with self._lock:
            if revision > self._state.revision:
                self._state = _State(revision=revision)
            state = self._state
            graphs = {paper: state.papers[paper] for paper in papers if paper in state.papers}
            for paper in graphs:
                state.papers.move_to_end(paper)
        missing = [paper for paper in papers if paper not in graphs]
        if revision != state.revision or len(missing) > _MOST_LOADED:
            return None
        if missing:
            with read() as connection:
                if read_revision(connection) != revision:
                    return None
                loaded = _read_graphs(connection, missing)
            graphs |= loaded
            with self._lock:
                state.papers.update(loaded)
                while len(state.papers) > _CACHED_PAPERS:
                    state.papers.popitem(last=False)
        return CachedGraph(papers=graphs, library_ids=lambda ids: self._library_ids(state, ids, read))

    def _library_ids(self, state: _State, ids: Sequence[str], read: Reads) -> Mapping[str, Sequence[str]]:
        known = {key: nodes for key in ids if (nodes := state.library_ids.get(key)) is not None}
        missing = [key for key in ids if key not in known]
        if missing:
            with read() as connection:
                found = library_ids(connection, missing)
                current = read_revision(connection) == state.revision
            known |= found
            if current and len(state.library_ids) < _CACHED_IDS:
                state.library_ids.update(found)
        return {key: known[key] for key in ids}


def _read_graphs(connection: Connection, papers: Sequence[str]) -> dict[str, _PaperGraph]:
    """Return the graphs of these papers; those of unknown papers are empty."""
    homes = read_homes(connection, papers)
    ends: dict[str, dict[str, list[_Relation]]] = {paper: defaultdict(list) for paper in papers}
    # `all` reads the rows at once, which takes a third of the time.
    for paper, start, end, kind, weight, value in connection.execute(_relations_query(), {"papers": papers}).all():
        own = homes.get(paper, {})
        source, target = own.get(start, start), own.get(end, end)
        if source != target:
            relation = _Relation(paper, source, target, kind, weight, value)
            ends[paper][source].append(relation)
            ends[paper][target].append(relation)
    values: dict[str, dict[str, list[str]]] = {paper: defaultdict(list) for paper in papers}
    for paper, entity, value in connection.execute(_entities_query(), {"papers": papers}).all():
        values[paper][homes.get(paper, {}).get(entity, entity)].append(value)
    return {paper: _PaperGraph(relations=dict(ends[paper]), entities=dict(values[paper])) for paper in papers}


@cache
def _relations_query() -> Select[str, str, str, str, float, str]:
    table = relations.c
    query = select(table.paper, table.source, table.target, table.kind, table.weight, table.value)
    return query.where(table.paper.in_(given("papers")))


@cache
def _entities_query() -> Select[str, str, str]:
    query = select(entities.c.paper, entities.c.id, entities.c.value)
    return query.where(entities.c.paper.in_(given("papers")))
