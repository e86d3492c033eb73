"""LightRAG's retrieval as an index of the library."""

import asyncio
import threading
from collections.abc import Sequence
from contextvars import copy_context
from typing import Any, Literal, Self

from numpy import float32
from numpy.typing import NDArray

from graph_store.index.finding import check_dimension
from graph_store.lightrag.adapter import make_lightrag, query_param
from graph_store.lightrag.vectors import TextVectors
from graph_store.lightrag.view import LibraryReader, View
from graph_store.store import Store
from paperscope_core.errors import StoreError
from paperscope_core.types import Candidates, Hit, RetrievalRequest

__all__ = ["LightRAGGraphIndex", "LightRAGMode"]

LightRAGMode = Literal["local", "global", "hybrid", "mix", "naive"]

# LightRAG embeds the question and its keywords, which are the question, too. Its vector is known, so that any text may
# stand for it; LightRAG refuses short ones.
_QUESTION = "the question"
# The retriever cuts the context, not LightRAG.
_NO_LIMIT = 10_000_000
# LightRAG drops what is less similar than 0.2; the retriever ranks everything.
_LEAST_COSINE = -1.0


class LightRAGGraphIndex:
    """Implements the protocol `GraphIndex` by a mode of LightRAG, without a model call; safe for several threads.

    It keeps no files: it reads the store, and so includes papers that other processes add. Chunks have their rank in
    LightRAG's result as the score by words, since LightRAG does not search by words. Raises StoreError, and InputError
    if LightRAG is not installed.
    """

    def __init__(self, store: Store, texts: TextVectors, *, mode: LightRAGMode) -> None:
        self._reader = LibraryReader(store, texts)
        self._mode = mode
        self._vectors: dict[str, NDArray[float32]] = {}
        self._rag = make_lightrag(
            self._reader,
            known_vectors=self._vectors,
            cosine_better_than_threshold=_LEAST_COSINE,
        )
        self._lock = threading.Lock()
        # LightRAG's locks and queues belong to the loop that runs them first.
        self._runner = asyncio.Runner()
        self._runner.run(self._rag.initialize_storages())

    @classmethod
    def open(cls, store: Store, texts: TextVectors, *, mode: LightRAGMode = "mix") -> Self:
        """Open the index and read the store.

        Args:
            texts: Computes the vectors of entities and relations, with the embedder of the papers' vectors.
            mode: LightRAG's mode: entities near the question (local), relations near it (global), both (hybrid), both
                and chunks (mix), chunks only (naive).
        """
        index = cls(store, texts, mode=mode)
        index.catch_up()
        return index

    def close(self) -> None:
        """Release LightRAG; the index can't be used afterwards."""
        with self._lock:
            self._runner.run(self._rag.finalize_storages())
            self._runner.close()

    @property
    def revision(self) -> int:
        """The store's revision that the index reflects."""
        return self._reader.newest().snapshot.revision

    def catch_up(self) -> None:
        """Read the store if it has changed."""
        self._reader.newest()

    def retrieve(self, request: RetrievalRequest) -> Candidates:
        """Find candidate chunks and entities for a question, at most `request.limit` in each list.

        The first call for entities or relations computes the vectors that are not in the store yet.

        Raises:
            SettingsError: The papers' vectors are of another embedder.
            ModelError: The embedder fails.
        """
        if request.limit < 1:
            return Candidates()
        with self._lock, self._reader.held(request.filters) as view:
            chunks = view.table("chunks")
            if chunks.keys:
                check_dimension(request.vector, chunks.vectors.shape[1], embedder=chunks.embedder)
            self._vectors[_QUESTION] = request.vector
            # The runner's own context would not know what is held.
            data = self._runner.run(self._query(request.limit), context=copy_context())
        return _candidates(view, data, request)

    async def _query(self, limit: int) -> dict[str, list[dict[str, Any]]]:
        reply = await self._rag.aquery_data(
            _QUESTION,
            query_param(
                mode=self._mode,
                top_k=limit,
                chunk_top_k=limit,
                max_entity_tokens=_NO_LIMIT,
                max_relation_tokens=_NO_LIMIT,
                max_total_tokens=_NO_LIMIT,
                hl_keywords=[_QUESTION],
                ll_keywords=[_QUESTION],
                enable_rerank=False,
            ),
        )
        data: dict[str, list[dict[str, Any]]] = reply.get("data") or {}
        if reply["status"] != "success" and reply.get("metadata", {}).get("failure_reason") != "no_results":
            raise StoreError(f"LightRAG failed: {reply['message']}")
        return data


def _candidates(view: View, data: dict[str, list[dict[str, Any]]], request: RetrievalRequest) -> Candidates:
    chunks = [str(one["chunk_id"]) for one in data.get("chunks", ())][: request.limit]
    nodes = [str(one["entity_name"]) for one in data.get("entities", ())]
    ends = [str(one[end]) for one in data.get("relationships", ()) for end in ("src_id", "tgt_id")]
    table = view.table("chunks")
    numbers = table.numbers
    cosines = {key: float(table.vectors[numbers[key]] @ request.vector) for key in chunks if key in numbers}
    return Candidates(
        by_words=_ranked(chunks),
        by_vectors=tuple(
            Hit(id=key, score=cosines[key]) for key in sorted(cosines, key=lambda key: (-cosines[key], key))
        ),
        named=_ranked(_ids(view, nodes, limit=request.limit)),
        reached=_ranked(_ids(view, [one for one in ends if one not in set(nodes)], limit=request.limit)),
    )


def _ids(view: View, names: Sequence[str], *, limit: int) -> list[str]:
    return [view.nodes[name].id for name in dict.fromkeys(names)][:limit]


def _ranked(ids: Sequence[str]) -> tuple[Hit, ...]:
    """Score between 0 and 1 by rank."""
    return tuple(Hit(id=key, score=1 - rank / (len(ids) + 1)) for rank, key in enumerate(ids, start=1))
