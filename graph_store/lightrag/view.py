"""The library at one revision in LightRAG's terms: nodes with unique names, undirected edges, chunks, vectors."""

import hashlib
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Literal

from graph_store.lightrag.vectors import TextVectors, VectorTable
from graph_store.snapshot import Snapshot
from paperscope_core.errors import SettingsError
from paperscope_core.types import Entity, Filters, Relation

__all__ = ["SEPARATOR", "Edge", "Row", "VectorKind", "View", "pair", "restrict"]

SEPARATOR = "<SEP>"
"""LightRAG's separator of the parts of a field: descriptions, source ids, file names."""

Edge = tuple[str, str]
"""The names of two nodes, sorted."""

Row = dict[str, object]
VectorKind = Literal["chunks", "entities", "relationships"]

# LightRAG's own limit on the chunks that an entity or relation names.
_MAX_SOURCES = 200


def pair(one: str, other: str) -> Edge:
    """The edge between two nodes."""
    return (one, other) if one <= other else (other, one)


def restrict(snapshot: Snapshot, filters: Filters) -> Snapshot:
    """The part of a library that the chunks which the filters allow state; years are ignored."""
    chunks = {key: chunk for key, chunk in snapshot.chunks.items() if filters.allows(chunk)}
    elements = {element for chunk in chunks.values() for element in chunk.elements}
    entities = {key: one for key, one in snapshot.entities.items() if not elements.isdisjoint(one.sources)}
    return replace(
        snapshot,
        chunks=chunks,
        vectors={key: snapshot.vectors[key] for key in chunks},
        entities=entities,
        relations=tuple(
            one
            for one in snapshot.relations
            if one.source in entities and one.target in entities and not elements.isdisjoint(one.sources)
        ),
    )


class View:
    """What LightRAG reads; it does not change, and is safe for several threads.

    A node's name is the entity's. It is followed by a paper's id if it has a meaning in that paper only ("Table 1"),
    and by the entity's id if another entity has the same name. An edge is all relations of two entities, in either
    direction.

    Attributes:
        nodes: The entities by name.
        edges: The relations by edge.
    """

    def __init__(self, snapshot: Snapshot, texts: TextVectors) -> None:
        self.snapshot = snapshot
        self.nodes: dict[str, Entity] = {}
        self.edges: dict[Edge, list[Relation]] = defaultdict(list)
        self._texts = texts
        self._tables: dict[VectorKind, VectorTable] = {}
        self._lock = threading.Lock()
        names: dict[str, str] = {}
        for key, entity in snapshot.entities.items():
            paper, separator, _ = key.partition("/")
            name = f"{entity.name} ({paper})" if separator else entity.name
            while name in self.nodes:
                name = f"{name} ({key})"
            self.nodes[name], names[key] = entity, name
        for relation in snapshot.relations:
            self.edges[pair(names[relation.source], names[relation.target])].append(relation)

    @cached_property
    def neighbours(self) -> Mapping[str, Sequence[str]]:
        """The neighbours of each node that has any."""
        found: dict[str, list[str]] = defaultdict(list)
        for one, other in self.edges:
            found[one].append(other)
            found[other].append(one)
        return dict(found)

    def degree(self, name: str) -> int:
        """The number of a node's neighbours; 0 for an unknown node."""
        return len(self.neighbours.get(name, ()))

    @cached_property
    def popular(self) -> Sequence[str]:
        """All nodes, those with the most neighbours first, then by name."""
        return sorted(self.nodes, key=lambda name: (-self.degree(name), name))

    @cached_property
    def files(self) -> Mapping[str, str]:
        """Each paper's file name, preceded by the paper's id if several papers have it."""
        sharing: dict[str, list[str]] = defaultdict(list)
        for entry in self.snapshot.papers.values():
            sharing[entry.file].append(entry.id)
        return {
            paper: file if len(papers) == 1 else f"{paper}/{file}"
            for file, papers in sharing.items()
            for paper in papers
        }

    @cached_property
    def _holders(self) -> Mapping[str, Sequence[str]]:
        """The ids of the chunks that contain each element."""
        holders: dict[str, list[str]] = defaultdict(list)
        for chunk in self.snapshot.chunks.values():
            for element in chunk.elements:
                holders[element].append(chunk.id)
        return dict(holders)

    def chunk_ids(self, elements: Iterable[str]) -> list[str]:
        """The chunks that contain these elements, without repeats."""
        return list(dict.fromkeys(chain.from_iterable(self._holders.get(element, ()) for element in elements)))

    def node(self, name: str) -> Row:
        """A node's properties. Raises KeyError."""
        entity = self.nodes[name]
        return {
            "entity_id": name,
            "entity_type": entity.type or "UNKNOWN",
            "description": entity.description or entity.name,
            **self._sources(entity.sources),
        }

    def edge(self, edge: Edge) -> Row:
        """An edge's properties. Raises KeyError."""
        relations = self._relations(edge)
        return {
            "weight": float(sum(one.weight for one in relations)),
            "description": SEPARATOR.join(dict.fromkeys(one.description or one.kind for one in relations)),
            "keywords": ",".join(dict.fromkeys(one.kind for one in relations)),
            **self._sources(self.edge_elements(edge)),
        }

    def _relations(self, edge: Edge) -> Sequence[Relation]:
        if edge not in self.edges:
            raise KeyError(edge)
        return self.edges[edge]

    def edge_elements(self, edge: Edge) -> list[str]:
        """The elements that state an edge's relations. Raises KeyError."""
        return list(dict.fromkeys(chain.from_iterable(one.sources for one in self._relations(edge))))

    def _sources(self, elements: Sequence[str]) -> Row:
        chunks = self.chunk_ids(elements)[:_MAX_SOURCES]
        files = dict.fromkeys(self.files[self.snapshot.chunks[chunk].paper] for chunk in chunks)
        return {
            "source_id": SEPARATOR.join(chunks),
            "element_ids": SEPARATOR.join(elements[:_MAX_SOURCES]),
            "file_path": SEPARATOR.join(files) or "unknown_source",
        }

    def chunk(self, key: str) -> Row:
        """A chunk with its places, by its id or that of an element that it contains. Raises KeyError."""
        chunks = self.snapshot.chunks
        chunk = chunks.get(key) or chunks[next(iter(self.chunk_ids([key])), key)]
        *above, section = chunk.section.split(" > ")
        return {
            "content": chunk.shown,
            "tokens": len(chunk.shown.split()),
            "chunk_order_index": int(chunk.id.rpartition("-")[2]),
            "full_doc_id": chunk.paper,
            "file_path": self.files[chunk.paper],
            "heading": {"level": len(above) + 1, "heading": section, "parent_headings": above},
            "element_ids": list(chunk.elements),
            "places": [{"page": place.page, "box": list(place.box)} for place in (chunk.place, *chunk.more_places)],
        }

    def table(self, kind: VectorKind) -> VectorTable:
        """The vectors of this kind. The first call computes those of entities or relations that no one asked for yet.

        Raises:
            SettingsError: The papers have vectors of other embedders only.
            ModelError: The embedder fails.
        """
        with self._lock:
            if kind not in self._tables:
                make = {"chunks": self._chunk_table, "entities": self._node_table, "relationships": self._edge_table}
                self._tables[kind] = make[kind]()
            return self._tables[kind]

    def _chunk_table(self) -> VectorTable:
        snapshot = self.snapshot
        ids = [key for key, one in snapshot.chunks.items() if snapshot.embedders[one.paper] == self._texts.embedder]
        if snapshot.chunks and not ids:
            raise SettingsError(
                f"no paper has vectors of the embedder {self._texts.embedder!r}, but of "
                f"{sorted(set(snapshot.embedders.values()))}; choose that embedder again, or add the papers again"
            )
        return VectorTable(
            ids=ids,
            keys=ids,
            contents=[snapshot.chunks[key].shown for key in ids],
            matrix=self._texts.stack([snapshot.vectors[key] for key in ids]),
            embedder=self._texts.embedder,
        )

    def _node_table(self) -> VectorTable:
        contents = [f"{name}\n{entity.description or entity.name}" for name, entity in self.nodes.items()]
        return self._text_table([_hashed("ent-", name) for name in self.nodes], list(self.nodes), contents)

    def _edge_table(self) -> VectorTable:
        rows = {edge: self.edge(edge) for edge in self.edges}
        contents = [f"{row['keywords']}\t{one}\n{other}\n{row['description']}" for (one, other), row in rows.items()]
        return self._text_table([_hashed("rel-", one + other) for one, other in rows], list(rows), contents)

    def _text_table(self, ids: Sequence[str], keys: Sequence[str | Edge], contents: Sequence[str]) -> VectorTable:
        """A table of texts, which are those that LightRAG itself embeds."""
        matrix = self._texts.matrix(contents)
        return VectorTable(ids=ids, keys=keys, contents=contents, matrix=matrix, embedder=self._texts.embedder)


def _hashed(prefix: str, text: str) -> str:
    """LightRAG's id of a vector."""
    return prefix + hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
