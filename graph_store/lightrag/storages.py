"""The storages by which LightRAG reads a library: the chunks and documents, their vectors, the graph, and the state of
documents. What is derived from papers can't be changed through them.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, cast

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from graph_store.lightrag.vectors import VectorTable
from graph_store.lightrag.view import SEPARATOR, Edge, LibraryReader, Row, VectorKind, View, pair
from paperscope_core.errors import StoreReadOnlyError

__all__ = ["GraphStorage", "KVStorage", "StatusStorage", "VectorStorage"]

# LightRAG's cache of model calls, which is always empty.
_CALLS = "llm_response_cache"
_EVERYTHING = "*"
_MAX_NODES = 1000
_SUMMARY = 100


class _ReadingStorage:
    """What all storages have in common; a subclass sets `reader`."""

    reader: LibraryReader

    async def drop(self) -> dict[str, str]:
        """Refuse, in the form that LightRAG expects."""
        return {"status": "error", "message": "unsupported: a Paperscope library is changed with Paperscope"}

    async def index_done_callback(self) -> None:
        """Do nothing: nothing is pending."""

    async def refuse(self, *changes: object, **named: object) -> Any:  # noqa: ANN401 # it stands for several methods
        """Refuse changes of what is derived from papers, unless all are empty. Raises StoreReadOnlyError."""
        if any(changes) or any(named.values()):
            raise StoreReadOnlyError(
                "LightRAG can't change a Paperscope library, because all in it is derived from papers; add or remove "
                "papers with Paperscope"
            )


class KVStorage(_ReadingStorage):
    """Implements LightRAG's `BaseKVStorage`, whose constructor sets `namespace`; `reader` is set by a subclass."""

    supports_strict_point_reads: ClassVar[bool] = True
    namespace: str

    async def get_by_id(self, id: str) -> Row | None:  # noqa: A002 # the protocol's
        """Return the row of a key, or None."""
        return (await self.get_by_ids([id]))[0]

    get_by_id_strict = get_by_id

    async def get_by_ids(self, ids: Sequence[str]) -> list[Row | None]:
        """Return the rows of keys; None for unknown ones."""
        view = await self.reader.view()
        return [_row(view, self.namespace, key) for key in ids]

    async def filter_keys(self, keys: Collection[str]) -> set[str]:
        """Return those of the keys that have no row."""
        ordered = list(keys)
        return {key for key, row in zip(ordered, await self.get_by_ids(ordered), strict=True) if row is None}

    async def is_empty(self) -> bool:
        """Return whether there is no row."""
        view = await self.reader.view()
        return self.namespace == _CALLS or not _KEYS[self.namespace](view)

    async def upsert(self, data: Mapping[str, Row]) -> None:
        """Refuse, but drop model calls: the library's own models keep theirs."""
        if self.namespace != _CALLS:
            await self.refuse(data)

    delete = _ReadingStorage.refuse


def _row(view: View, namespace: str, key: str) -> Row | None:
    try:
        row = _ROWS[namespace](view, key)
    except KeyError:
        # There is no such row, or no such namespace.
        return None
    return {"create_time": 0, "update_time": 0, **row, "_id": key}


def _document(view: View, paper: str) -> Row:
    chunks = [one.text for one in view.snapshot.chunks.values() if one.paper == paper]
    return {"content": "\n\n".join(chunks), "file_path": view.files[paper]}


def _entity_names(view: View, paper: str) -> Row:
    names = [name for name, one in view.nodes.items() if _states(view, paper, one.sources)]
    return {"entity_names": names, "count": len(names)}


def _relation_pairs(view: View, paper: str) -> Row:
    edges = [list(edge) for edge in view.edges if _states(view, paper, view.edge_elements(edge))]
    return {"relation_pairs": edges, "count": len(edges)}


def _states(view: View, paper: str, elements: Iterable[str]) -> bool:
    """Return whether a paper has one of the elements. Raises KeyError if there is no such paper."""
    start = f"{view.snapshot.papers[paper].id}/"
    return any(element.startswith(start) for element in elements)


def _entity_chunks(view: View, name: str) -> Row:
    return _chunk_list(view.chunk_ids(view.nodes[name].sources))


def _relation_chunks(view: View, key: str) -> Row:
    one, _, other = key.partition(SEPARATOR)
    return _chunk_list(view.chunk_ids(view.edge_elements(pair(one, other))))


def _chunk_list(chunks: Sequence[str]) -> Row:
    return {"chunk_ids": list(chunks), "count": len(chunks)}


_ROWS: Mapping[str, Callable[[View, str], Row]] = {
    "text_chunks": View.chunk,
    "full_docs": _document,
    "full_entities": _entity_names,
    "full_relations": _relation_pairs,
    "entity_chunks": _entity_chunks,
    "relation_chunks": _relation_chunks,
}
_KEYS: Mapping[str, Callable[[View], Collection[object]]] = {
    "text_chunks": lambda view: view.snapshot.chunks,
    "full_docs": lambda view: view.snapshot.papers,
    "full_entities": lambda view: view.snapshot.papers,
    "full_relations": lambda view: view.snapshot.papers,
    "entity_chunks": lambda view: view.nodes,
    "relation_chunks": lambda view: view.edges,
}


class VectorStorage(_ReadingStorage):
    """Implements LightRAG's `BaseVectorStorage`, whose constructor sets the fields; `reader` is set by a subclass."""

    namespace: VectorKind
    cosine_better_than_threshold: float
    embedding_func: Any
    global_config: dict[str, Any]

    async def initialize(self) -> None:
        """Take the least cosine of a result from the configuration, where LightRAG's own storages read it."""
        options = self.global_config["vector_db_storage_cls_kwargs"]
        self.cosine_better_than_threshold = options["cosine_better_than_threshold"]

    async def query(self, query: str, top_k: int, query_embedding: Any = None) -> list[Row]:  # noqa: ANN401
        """Return the rows nearest to a question, nearest first.

        Args:
            query_embedding: Its vector of shape (d,), if it is known.

        Raises:
            SettingsError: The vectors are of another embedder.
        """
        view, table = await self._table()
        if query_embedding is None:
            query_embedding = (await self.embedding_func([query], context="query"))[0]
        found = table.search(
            np.asarray(query_embedding, dtype=float32), limit=top_k, least=self.cosine_better_than_threshold
        )
        return [{**_vector_row(view, self.namespace, table, row), "distance": cosine} for row, cosine in found]

    async def get_by_id(self, id: str) -> Row | None:  # noqa: A002 # the protocol's
        """Return the row with this id, or None."""
        return (await self.get_by_ids([id]))[0]

    async def get_by_ids(self, ids: Sequence[str]) -> list[Row | None]:
        """Return the rows with these ids; None for unknown ones."""
        view, table = await self._table()
        numbers = table.numbers
        return [_vector_row(view, self.namespace, table, numbers[key]) if key in numbers else None for key in ids]

    async def get_vectors_by_ids(self, ids: Sequence[str]) -> dict[str, NDArray[float32]]:
        """Return the vectors by id, without unknown ids.

        They are arrays, where LightRAG's own storages return lists: it compares each of some thousand with the
        question, and converting a list takes longer than the rest of a query.
        """
        _, table = await self._table()
        numbers = table.numbers
        return {key: table.vectors[numbers[key]] for key in ids if key in numbers}

    async def _table(self) -> tuple[View, VectorTable]:
        view = await self.reader.view()
        if self.namespace in view.tables:
            return view, view.tables[self.namespace]
        return view, await asyncio.to_thread(view.table, self.namespace)

    upsert = delete = delete_entity = delete_entity_relation = _ReadingStorage.refuse


def _vector_row(view: View, kind: VectorKind, table: VectorTable, number: int) -> Row:
    """Return what is at a position, with the fields that LightRAG stores with its vectors."""
    key = table.keys[number]
    fields: Row = {"id": table.id_of(key), "content": view.text(kind, key), "created_at": None}
    if kind == "chunks":
        chunk = view.snapshot.chunks[cast("str", key)]
        return fields | {"full_doc_id": chunk.paper, "file_path": view.files[chunk.paper]}
    if kind == "entities":
        node = view.node(cast("str", key))
        named: Row = {"entity_name": key}
    else:
        edge = cast("tuple[str, str]", key)
        node = view.edge(edge)
        named = {"src_id": edge[0], "tgt_id": edge[1]}
    return fields | named | {name: node[name] for name in ("source_id", "file_path")}


class GraphStorage(_ReadingStorage):
    """Implements LightRAG's `BaseGraphStorage`, whose constructor sets the fields; a subclass sets the others.

    Attributes:
        types: LightRAG's module of the values that `get_knowledge_graph` returns.
    """

    global_config: dict[str, Any]
    types: Any

    async def has_node(self, node_id: str) -> bool:
        """Return whether there is such a node."""
        return node_id in (await self.reader.view()).nodes

    async def has_edge(self, source_node_id: str, target_node_id: str) -> bool:
        """Return whether an edge connects two nodes."""
        return pair(source_node_id, target_node_id) in (await self.reader.view()).edges

    async def node_degree(self, node_id: str) -> int:
        """Return the number of a node's edges."""
        return (await self.reader.view()).degree(node_id)

    async def edge_degree(self, src_id: str, tgt_id: str) -> int:
        """Return the sum of the degrees of two nodes."""
        view = await self.reader.view()
        return view.degree(src_id) + view.degree(tgt_id)

    async def get_node(self, node_id: str) -> Row | None:
        """Return a node's properties, or None."""
        view = await self.reader.view()
        return view.node(node_id) if node_id in view.nodes else None

    async def get_edge(self, source_node_id: str, target_node_id: str) -> Row | None:
        """Return an edge's properties, or None."""
        view, edge = await self.reader.view(), pair(source_node_id, target_node_id)
        return view.edge(edge) if edge in view.edges else None

    async def get_node_edges(self, source_node_id: str) -> list[Edge] | None:
        """Return a node's edges, each from the node; None if there is no such node."""
        view = await self.reader.view()
        if source_node_id not in view.nodes:
            return None
        return [(source_node_id, other) for other in view.neighbours.get(source_node_id, ())]

    async def get_all_labels(self) -> list[str]:
        """Return all nodes, sorted."""
        return sorted((await self.reader.view()).nodes)

    async def get_popular_labels(self, limit: int = 300) -> list[str]:
        """Return the nodes with the most edges first, then by name."""
        return list((await self.reader.view()).popular[: max(limit, 0)])

    async def search_labels(self, query: str, limit: int = 50) -> list[str]:
        """Return the nodes whose name contains a text in any case: equal to it, then beginning with it, then the
        shortest."""
        wanted = query.casefold().strip()
        nodes = (await self.reader.view()).nodes if wanted else {}
        found = [(folded, name) for name in nodes if wanted in (folded := name.casefold())]
        found.sort(key=lambda one: (one[0] != wanted, not one[0].startswith(wanted), len(one[0]), one[1]))
        return [name for _, name in found[: max(limit, 0)]]

    async def get_all_nodes(self) -> list[Row]:
        """Return all nodes with their properties."""
        view = await self.reader.view()
        return [{**view.node(node), "id": node} for node in view.nodes]

    async def get_all_edges(self) -> list[Row]:
        """Return all edges with their properties, each once."""
        view = await self.reader.view()
        return [{**view.edge(edge), "source": edge[0], "target": edge[1]} for edge in view.edges]

    async def get_knowledge_graph(self, node_label: str, max_depth: int = 3, max_nodes: int | None = None) -> Any:  # noqa: ANN401
        """Return the nodes around a node, nearest first, then those with the most edges, with the edges between them.

        Args:
            node_label: The node; `*` for all nodes, those with the most edges first.
            max_depth: The maximum number of steps from the node.
            max_nodes: The maximum number of nodes, at most the `max_graph_nodes` of the configuration.
        """
        view = await self.reader.view()
        most = int(self.global_config.get("max_graph_nodes", _MAX_NODES))
        most = most if max_nodes is None else max(min(max_nodes, most), 0)
        found = view.popular if node_label == _EVERYTHING else _around(view, node_label, depth=max_depth, most=most)
        chosen = dict.fromkeys(found[:most])
        edges = [edge for edge in view.edges if edge[0] in chosen and edge[1] in chosen]
        return self.types.KnowledgeGraph(
            nodes=[self.types.KnowledgeGraphNode(id=one, labels=[one], properties=view.node(one)) for one in chosen],
            edges=[
                self.types.KnowledgeGraphEdge(
                    id=f"{edge[0]}-{edge[1]}",
                    type="DIRECTED",
                    source=edge[0],
                    target=edge[1],
                    properties=view.edge(edge),
                )
                for edge in edges
            ],
            is_truncated=len(found) > most,
        )

    upsert_node = upsert_edge = delete_node = remove_nodes = remove_edges = _ReadingStorage.refuse


def _around(view: View, start: str, *, depth: int, most: int) -> list[str]:
    """Return the nodes within `depth` steps, nearest first; at least one more than `most`, if there are so many."""
    if start not in view.nodes:
        return []
    found, level = dict.fromkeys([start]), [start]
    for _ in range(depth):
        reached = {other for node in level for other in view.neighbours.get(node, ())} - found.keys()
        level = sorted(reached, key=lambda name: (-view.degree(name), name))
        found.update(dict.fromkeys(level))
        if not level or len(found) > most:
            break
    return list(found)


class StatusStorage(_ReadingStorage):
    """The rows of LightRAG's `JsonDocStatusStorage`, which has all methods that read them.

    Attributes:
        locks: LightRAG's module of locks.
    """

    locks: Any
    namespace: str
    workspace: str

    def __post_init__(self) -> None:
        self._storage_lock: Any = None

    async def initialize(self) -> None:
        """Take the lock of the rows; there is no file to load."""
        self._storage_lock = self.locks.get_namespace_lock(self.namespace, workspace=self.workspace)

    @property
    def _data(self) -> dict[str, Row]:
        return _status_rows(self.reader.view_now())

    upsert = delete = update_doc_status_fields = repair_source_conflict = _ReadingStorage.refuse


def _status_rows(view: View) -> dict[str, Row]:
    """Return the rows of all papers, by id."""
    chunks: dict[str, list[str]] = {paper: [] for paper in view.snapshot.papers}
    lengths = dict.fromkeys(chunks, 0)
    for chunk in view.snapshot.chunks.values():
        chunks[chunk.paper].append(chunk.id)
        lengths[chunk.paper] += len(chunk.text)
    # LightRAG requires a time.
    times = {
        paper: datetime.fromtimestamp(view.snapshot.added[paper], UTC).isoformat(timespec="seconds") for paper in chunks
    }
    return {
        entry.id: {
            "content_summary": entry.title[:_SUMMARY],
            "content_length": lengths[entry.id],
            "file_path": view.files[entry.id],
            "status": "processed",
            "created_at": times[entry.id],
            "updated_at": times[entry.id],
            "track_id": "",
            "chunks_count": len(chunks[entry.id]),
            "chunks_list": chunks[entry.id],
            "metadata": {},
            "content_hash": entry.sha256,
        }
        for entry in view.snapshot.papers.values()
    }
