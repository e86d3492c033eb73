"""LightRAG's vector storage: searches chunks, entities and relations by cosine."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from graph_store.lightrag.reader import ReadingStorage, refuse_to_write
from graph_store.lightrag.vectors import VectorTable
from graph_store.lightrag.view import Row, VectorKind, View

__all__ = ["VectorStorage", "row_of"]


class VectorStorage(ReadingStorage):
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
        """The rows nearest to a question, nearest first.

        Args:
            query: Its text.
            top_k: The maximum number of rows.
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
        return [{**row_of(view, self.namespace, table, row), "distance": cosine} for row, cosine in found]

    async def get_by_id(self, id: str) -> Row | None:  # noqa: A002 # the protocol's
        """The row with this id, or None."""
        return (await self.get_by_ids([id]))[0]

    async def get_by_ids(self, ids: Sequence[str]) -> list[Row | None]:
        """The rows with these ids; None for unknown ones."""
        view, table = await self._table()
        numbers = table.numbers
        return [row_of(view, self.namespace, table, numbers[key]) if key in numbers else None for key in ids]

    async def get_vectors_by_ids(self, ids: Sequence[str]) -> dict[str, NDArray[float32]]:
        """The vectors by id, without unknown ids.

        They are arrays, where LightRAG's own storages return lists: it compares each of some thousand with the
        question, and converting a list takes longer than the rest of a query.
        """
        _, table = await self._table()
        numbers = table.numbers
        return {key: table.vector(numbers[key]) for key in ids if key in numbers}

    async def _table(self) -> tuple[View, VectorTable]:
        view = await self.reader.view()
        if self.namespace in view.tables:
            return view, view.tables[self.namespace]
        return view, await asyncio.to_thread(view.table, self.namespace)

    async def upsert(self, data: dict[str, Row]) -> None:
        """Raises StoreReadOnlyError."""
        if data:
            refuse_to_write("the vectors")

    async def delete(self, ids: Sequence[str]) -> None:
        """Raises StoreReadOnlyError."""
        if ids:
            refuse_to_write("the vectors")

    async def delete_entity(self, entity_name: str) -> None:
        """Raises StoreReadOnlyError."""
        refuse_to_write(f"the entities (such as {entity_name!r})")

    async def delete_entity_relation(self, entity_name: str) -> None:
        """Raises StoreReadOnlyError."""
        refuse_to_write(f"the relations (such as those of {entity_name!r})")


def row_of(view: View, kind: VectorKind, table: VectorTable, number: int) -> Row:
    """What is at a position, with the fields that LightRAG stores with its vectors."""
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
