"""LightRAG on a library: the index that retrieves with it, a `LightRAG` for code that uses it, its server, and the
import of its working directories."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from graph_store.lightrag.adapter import Complete, make_lightrag
from graph_store.lightrag.importing import ImportPlan, plan_import, read_working_dir
from graph_store.lightrag.index import LightRAGGraphIndex
from graph_store.lightrag.vectors import TextVectors
from graph_store.lightrag.view import LibraryReader
from graph_store.lightrag.web_server import make_app
from paperscope_core.models import CachedEmbedder, Models
from paperscope_core.models.cache import MemoryVectorCache
from paperscope_core.protocols import Embedder, LanguageModel
from paperscope_core.settings import RetrievalSettings
from paperscope_core.types import IndexedPaper, Message, ModelRequest, Paper

__all__ = [
    "ImportPlan",
    "Wait",
    "build_lightrag",
    "build_lightrag_app",
    "import_lightrag_folder",
    "open_lightrag_index",
    "text_vectors",
]

_CACHED_QUESTIONS = 1000

Wait = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine on the library's loop, to which its models belong, and returns the result."""


def text_vectors(store: Store, embedder: Embedder, wait: Wait) -> TextVectors:
    """Return the vectors by which LightRAG finds entities and relations, cached in the store if it can be written.
    Those of questions are cached in memory."""
    in_memory = CachedEmbedder(embedder, MemoryVectorCache(store, size=_CACHED_QUESTIONS))
    stored = in_memory if store.read_only else CachedEmbedder(embedder, store)

    def embed(texts: Sequence[str], *, by: Embedder = stored) -> NDArray[float32]:
        vectors: NDArray[float32] = wait(by.embed(texts))
        return vectors

    return TextVectors(
        embed,
        embed_questions=partial(embed, by=in_memory),
        embedder=embedder.name,
        # Any vector has their length; this one is kept, too.
        dimension=embed(["dimension"]).shape[1],
    )


def open_lightrag_index(store: Store, models: Models, wait: Wait, *, settings: RetrievalSettings) -> LightRAGGraphIndex:
    """Open the index that `retrieval.index = "lightrag"` selects.

    Raises:
        InputError: LightRAG is not installed, or of another release.
    """
    return LightRAGGraphIndex.open(store, text_vectors(store, models.embedder, wait), mode=settings.lightrag_mode)


def build_lightrag(store: Store, models: Models, wait: Wait, **options: Any) -> Any:  # noqa: ANN401
    """Return a `LightRAG` on the library, with its embedder and its answering model. See `Library.lightrag`."""
    complete = None if models.answer is None else _complete(models.answer, wait)
    return make_lightrag(LibraryReader(store, text_vectors(store, models.embedder, wait)), complete=complete, **options)


def _complete(model: LanguageModel, wait: Wait) -> Complete:
    async def complete(prompt: str, system: str, history: Sequence[Mapping[str, str]]) -> str:
        messages = [Message(role="system", text=system)] if system else []
        messages += [
            Message(role="assistant" if one["role"] == "assistant" else "user", text=one["content"]) for one in history
        ]
        request = ModelRequest(messages=(*messages, Message(role="user", text=prompt)), schema_name="lightrag")
        reply = await asyncio.to_thread(lambda: wait(model.complete(request)))
        return str(reply.text)

    return complete


def import_lightrag_folder(
    folder: Path, store: Store, models: Models, wait: Wait, *, on_paper: Callable[[Paper], None]
) -> ImportPlan:
    """Add the documents of a LightRAG working directory. See `Library.import_lightrag`."""
    plan = plan_import(read_working_dir(folder))
    embedder = CachedEmbedder(models.embedder, store)
    for one in plan.papers:
        vectors = wait(embedder.embed([chunk.searched for chunk in one.chunks]))
        indexed = IndexedPaper(paper=one.paper, chunks=one.chunks, extraction=one.extraction, vectors=vectors)
        store.add(indexed, crops={}, source=one.source, embedder=embedder.name)
        on_paper(one.paper)
    return plan


def build_lightrag_app(store: Store, models: Models, wait: Wait, *, host: str, port: int, inputs: Path) -> Any:  # noqa: ANN401
    """LightRAG's server on the library, as an ASGI application. See `Library.lightrag_app`."""
    return make_app(
        LibraryReader(store, text_vectors(store, models.embedder, wait)),
        host=host,
        port=port,
        inputs=inputs,
        complete=None if models.answer is None else _complete(models.answer, wait),
        model="" if models.answer is None else models.answer.name,
    )
