"""LightRAG on a library: the index that retrieves with it, and a `LightRAG` for code that uses it."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from graph_store.lightrag.adapter import Complete, make_lightrag
from graph_store.lightrag.index import LightRAGGraphIndex
from graph_store.lightrag.reader import LibraryReader
from graph_store.lightrag.vectors import TextVectors
from paperscope_core.models import CachedEmbedder, Models
from paperscope_core.models.cache import MemoryVectorCache
from paperscope_core.protocols import Embedder, LanguageModel
from paperscope_core.settings import RetrievalSettings
from paperscope_core.types import Message, ModelRequest

__all__ = ["Wait", "build_lightrag", "open_lightrag_index", "text_vectors"]

Wait = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine on the library's loop, to which its models belong, and returns the result."""


def text_vectors(store: Store, embedder: Embedder, wait: Wait) -> TextVectors:
    """The vectors by which LightRAG finds entities and relations, cached in the store if it can be written."""
    cached = CachedEmbedder(embedder, MemoryVectorCache(store, size=0) if store.read_only else store)

    def embed(texts: Sequence[str]) -> NDArray[float32]:
        vectors: NDArray[float32] = wait(cached.embed(texts))
        return vectors

    return TextVectors(embed, embedder=embedder.name, dimension=embedder.dimension)


def open_lightrag_index(store: Store, models: Models, wait: Wait, *, settings: RetrievalSettings) -> LightRAGGraphIndex:
    """Open the index that `retrieval.index = "lightrag"` selects.

    Raises:
        InputError: LightRAG is not installed, or of another release.
    """
    return LightRAGGraphIndex.open(store, text_vectors(store, models.embedder, wait), mode=settings.lightrag_mode)


def build_lightrag(store: Store, models: Models, wait: Wait, **options: Any) -> Any:  # noqa: ANN401
    """A `LightRAG` on the library, with its embedder and its answering model. See `Library.lightrag`."""
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
