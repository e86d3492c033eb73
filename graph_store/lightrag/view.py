"""The library at one revision in LightRAG's terms: nodes with unique names, undirected edges, chunks, vectors."""

import asyncio
import hashlib
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Literal, cast

import numpy as np
from numpy import float32

from graph_store.lightrag.vectors import TextVectors, VectorTable
from graph_store.snapshot import Snapshot
from graph_store.store import Store
from paperscope_core.errors import SettingsError, StoreDamagedError
from paperscope_core.types import Entity, Filters, Relation

__all__ = ["SEPARATOR", "Edge", "LibraryReader", "Row", "VectorKind", "View", "pair"]

SEPARATOR = "<SEP>"
"""LightRAG's separator of the parts of a field: descriptions, source ids, file names."""

Edge = tuple[str, str]
"""The names of two nodes, sorted."""

Row = dict[str, object]
VectorKind = Literal["chunks", "entities", "relationships"]

# LightRAG's own limit on the chunks that an entity or relation names.
_MAX_SOURCES = 200
_NO_FILTERS = Filters()

_held: ContextVar["View | None"] = ContextVar("_held", default=None)


def pair(one: str, other: str) -> Edge:
    """Return the edge between two nodes."""
    return (one, other) if one <= other else (other, one)


class View:
    """What LightRAG reads; it does not change, and is safe for several threads.

    A node's name is the entity's. It is followed by a paper's id if it has a meaning in that paper only ("Table 1"),
    and by the entity's id if another entity has the same name. An edge is all relations of two entities, in either
    direction.

    Attributes:
        nodes: The entities by name.
        edges: The relations by edge.
        tables: What `table` returned so far.

    Args:
        snapshot: The library, or a part of it.
        whole: Whether it is all of the library.
    """

    def __init__(self, snapshot: Snapshot, texts: TextVectors, *, whole: bool = False) -> None:
        self.snapshot = snapshot
        self.nodes: dict[str, Entity] = {}
        self.edges: dict[Edge, list[Relation]] = defaultdict(list)
        self._texts = texts
        self._whole = whole
        self.tables: dict[VectorKind, VectorTable] = {}
        self._rows: dict[str | Edge, Row] = {}
        self._lock = threading.Lock()
        names: dict[str, str] = {}
        for key, entity in snapshot.entities.items():
            paper = key.partition("/")[0]
            # A name may have a slash, too.
            name = f"{entity.name} ({paper})" if paper in snapshot.papers else entity.name
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
        """Return the number of a node's neighbours; 0 for an unknown node."""
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

    def chunk_ids(self, elements: Iterable[str], *, most: int | None = None) -> list[str]:
        """Return the chunks that contain these elements, without repeats, at most `most`."""
        found: dict[str, None] = {}
        for element in elements:
            found.update(dict.fromkeys(self._holders.get(element, ())))
            if most is not None and len(found) >= most:
                break
        return list(found)[:most]

    def node(self, name: str) -> Row:
        """Return a node's properties. Raises KeyError."""
        if name not in self._rows:
            entity = self.nodes[name]
            self._rows[name] = {
                "entity_id": name,
                "entity_type": entity.type or "UNKNOWN",
                "description": entity.description or entity.name,
                **self._sources(entity.sources),
            }
        return dict(self._rows[name])

    def edge(self, edge: Edge) -> Row:
        """Return an edge's properties. Raises KeyError."""
        if edge not in self._rows:
            keywords, description = _keywords_and_description(self._relations(edge))
            self._rows[edge] = {
                "weight": float(sum(one.weight for one in self._relations(edge))),
                "description": description,
                "keywords": keywords,
                **self._sources(self.edge_elements(edge)),
            }
        return dict(self._rows[edge])

    def _relations(self, edge: Edge) -> Sequence[Relation]:
        if edge not in self.edges:
            raise KeyError(edge)
        return self.edges[edge]

    def edge_elements(self, edge: Edge) -> list[str]:
        """Return the elements that state an edge's relations. Raises KeyError."""
        return list(dict.fromkeys(chain.from_iterable(one.sources for one in self._relations(edge))))

    def _sources(self, elements: Sequence[str]) -> Row:
        chunks = self.chunk_ids(elements, most=_MAX_SOURCES)
        files = dict.fromkeys(self.files[self.snapshot.chunks[chunk].paper] for chunk in chunks)
        return {
            "source_id": SEPARATOR.join(chunks),
            "element_ids": SEPARATOR.join(elements[:_MAX_SOURCES]),
            "file_path": SEPARATOR.join(files) or "unknown_source",
        }

    def chunk(self, key: str) -> Row:
        """Return a chunk with its places, by its id or that of an element that it contains. Raises KeyError."""
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
        """Return the vectors of this kind. The first call computes those of entities or relations that no one asked for
        yet.

        Raises:
            SettingsError: The papers have vectors of other embedders only.
            ModelError: The embedder fails.
        """
        if kind not in self.tables:
            with self._lock:
                if kind not in self.tables:
                    self.tables[kind] = self._chunk_table() if kind == "chunks" else self._text_table(kind)
        return self.tables[kind]

    def text(self, kind: VectorKind, key: str | Edge) -> str:
        """Return the text whose vector stands for a chunk, node or edge: for the last two, what LightRAG itself
        embeds."""
        if kind == "chunks":
            return self.snapshot.chunks[cast("str", key)].shown
        if kind == "entities":
            entity = self.nodes[cast("str", key)]
            return f"{key}\n{entity.description or entity.name}"
        edge = cast("Edge", key)
        keywords, description = _keywords_and_description(self._relations(edge))
        return f"{keywords}\t{edge[0]}\n{edge[1]}\n{description}"

    def _chunk_table(self) -> VectorTable:
        snapshot = self.snapshot
        keys = [key for key, one in snapshot.chunks.items() if snapshot.embedders[one.paper] == self._texts.embedder]
        if snapshot.chunks and not keys:
            raise SettingsError(
                f"no paper has vectors of the embedder {self._texts.embedder!r}, but of "
                f"{sorted(set(snapshot.embedders.values()))}; choose that embedder again, or add the papers again"
            )
        return VectorTable(
            keys=keys,
            id_of=str,
            vectors=np.stack([snapshot.vectors[key] for key in keys]) if keys else np.zeros((0, 0), dtype=float32),
            embedder=self._texts.embedder,
        )

    def _text_table(self, kind: VectorKind) -> VectorTable:
        keys: list[str | Edge] = [*(self.nodes if kind == "entities" else self.edges)]
        vectors = self._texts.of(kind, [self.text(kind, key) for key in keys], whole=self._whole)
        return VectorTable(keys=keys, id_of=_vector_id, vectors=vectors, embedder=self._texts.embedder)


def _keywords_and_description(relations: Sequence[Relation]) -> tuple[str, str]:
    """Return the kinds and the descriptions of the relations of an edge."""
    keywords = ",".join(dict.fromkeys(one.kind for one in relations))
    return keywords, SEPARATOR.join(dict.fromkeys(one.description or one.kind for one in relations))


def _vector_id(key: str | Edge) -> str:
    """LightRAG's id of the vector of a node or an edge."""
    prefix, text = ("ent-", key) if isinstance(key, str) else ("rel-", "".join(key))
    return prefix + hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class LibraryReader:
    """The library as LightRAG's storages read it; safe for several threads.

    What runs within `held` reads one revision. A read outside of it sees the newest one.

    Attributes:
        workspace: LightRAG's name for the library. LightRAG shares data between workspaces of one name in a process,
            whatever their folders are.
    """

    def __init__(self, store: Store, texts: TextVectors) -> None:
        self.store = store
        self.texts = texts
        self.workspace = f"paperscope_{hashlib.sha256(str(store.folder.resolve()).encode()).hexdigest()[:16]}"
        self._newest: View | None = None
        self._lock = threading.Lock()

    def newest(self) -> View:
        """Return the library at its newest revision, without the papers that are damaged. Raises StoreError."""
        with self._lock:
            if self._newest is None or self._newest.snapshot.revision != self.store.revision:
                self._newest = View(self.store.snapshot(), self.texts, whole=True)
            return self._newest

    @contextmanager
    def held(self, filters: Filters = _NO_FILTERS) -> Iterator[View]:
        """Let this task, and those that it starts, read one revision, and only what the filters allow (years are
        ignored). Within another `held`, its revision.

        Raises:
            StoreDamagedError: All papers are damaged.
        """
        view = self.view_now()
        if view.snapshot.damaged and not view.snapshot.papers:
            raise StoreDamagedError(view.snapshot.damaged[0])
        if filters.papers or filters.sections or filters.kinds:
            view = View(_restrict(view.snapshot, filters), self.texts)
        token = _held.set(view)
        try:
            yield view
        finally:
            _held.reset(token)

    def view_now(self) -> View:
        """Return the view that is held, or else the newest."""
        return _held.get() or self.newest()

    async def view(self) -> View:
        """Awaitable `view_now`."""
        held = _held.get()
        return await asyncio.to_thread(self.newest) if held is None else held


def _restrict(snapshot: Snapshot, filters: Filters) -> Snapshot:
    """Return the part of a library that the chunks which the filters allow state; years are ignored."""
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
