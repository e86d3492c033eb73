"""LightRAG's key-value storage: chunks, documents and what they contribute, and the cache of its model calls."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import ClassVar

from graph_store.lightrag.reader import ReadingStorage, refuse_to_write
from graph_store.lightrag.view import SEPARATOR, Row, View, pair
from paperscope_core.types import ModelReply

__all__ = ["KVStorage"]

_CALLS = "llm_response_cache"
_CALL_MODEL = "lightrag"


class KVStorage(ReadingStorage):
    """Implements LightRAG's `BaseKVStorage`, whose constructor sets `namespace`; `reader` is set by a subclass."""

    supports_strict_point_reads: ClassVar[bool] = True
    namespace: str

    async def get_by_id(self, id: str) -> Row | None:  # noqa: A002 # the protocol's
        """The row of a key, or None."""
        return (await self.get_by_ids([id]))[0]

    get_by_id_strict = get_by_id

    async def get_by_ids(self, ids: Sequence[str]) -> list[Row | None]:
        """The rows of keys; None for unknown ones."""
        if self.namespace == _CALLS:
            return [self._call(key) for key in ids]
        view = await self.reader.view()
        return [_row(view, self.namespace, key) for key in ids]

    async def filter_keys(self, keys: Collection[str]) -> set[str]:
        """Those of the keys that have no row."""
        ordered = list(keys)
        return {key for key, row in zip(ordered, await self.get_by_ids(ordered), strict=True) if row is None}

    async def is_empty(self) -> bool:
        """Whether there is no row; the cache says that it has some."""
        view = await self.reader.view()
        return self.namespace != _CALLS and not _KEYS[self.namespace](view)

    async def upsert(self, data: Mapping[str, Row]) -> None:
        """Store a reply of LightRAG's model calls. Raises StoreReadOnlyError for anything else."""
        if not data:
            return
        if self.namespace != _CALLS:
            refuse_to_write("the chunks and documents")
        for key, row in data.items():
            reply = ModelReply(text=json.dumps(row))
            self.reader.store.put_call(_call_key(key), _CALL_MODEL, reply)

    async def delete(self, ids: Sequence[str]) -> None:
        """Raises StoreReadOnlyError: replies stay in the store."""
        if ids:
            refuse_to_write("the chunks, documents and stored replies")

    def _call(self, key: str) -> Row | None:
        reply = self.reader.store.get_call(_call_key(key))
        try:
            row = json.loads(reply.text) if reply is not None else None
        except ValueError:
            return None
        return {**row, "_id": key} if isinstance(row, dict) else None


def _call_key(key: str) -> str:
    return f"lightrag {key}"


def _row(view: View, namespace: str, key: str) -> Row | None:
    try:
        row = _ROWS[namespace](view, key)
    except KeyError:
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
    """Whether a paper has one of the elements. Raises KeyError if there is no such paper."""
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
