"""Caches of model replies and embeddings, and the wrappers that use them."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.models.concurrency import PerLoop
from paperscope_core.models.wrapper import streamed
from paperscope_core.protocols import CallCache, Embedder, LanguageModel, VectorCache
from paperscope_core.types import ModelReply, ModelRequest, Usage

__all__ = ["CachedEmbedder", "CachedModel", "MemoryCallCache", "MemoryVectorCache"]


@dataclass(kw_only=True, slots=True)
class _PendingCall:
    """A call under way, and how many wait for its reply."""

    task: asyncio.Task[ModelReply]
    waiting: int = 0


class CachedModel:
    """Looks into the cache first; equal requests at the same time share one call. None is made whose reply could not be
    kept: it would be paid for and lost.

    A call that all its callers gave up is cancelled; what comes of it nevertheless (see `FinishingModel`) is kept, for
    it is paid, and `drain` waits for it.
    """

    def __init__(self, model: LanguageModel, cache: CallCache) -> None:
        self._model = model
        self._cache = cache
        self._under_way: PerLoop[dict[str, _PendingCall]] = PerLoop(dict)

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The kept reply, whose usage is one cached call that cost nothing, or a new one."""
        return await self._kept_or(request, lambda: self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """As `complete`, and kept the same way; a reply that is kept or under way for another comes in one piece."""
        told = False

        def tell(text: str) -> None:
            nonlocal told
            told = True
            on_text(text)

        reply = await self._kept_or(request, lambda: streamed(self._model, request, tell))
        if not told:
            on_text(reply.text)
        return reply

    async def _kept_or(self, request: ModelRequest, call: Callable[[], Awaitable[ModelReply]]) -> ModelReply:
        key = request.key(self.name)
        kept = self._cache.get_call(key)
        if kept is not None:
            return _cached_reply(kept)
        calls = self._under_way.get()
        while True:
            shares = key in calls
            under_way = calls[key] if shares else self._begun(key, call)
            try:
                reply = await self._waited_for(under_way)
            except asyncio.CancelledError:
                # Given up by all who had asked before, and nothing came of it.
                if shares and under_way.task.cancelled() and not _is_cancelled():
                    continue
                raise
            return _cached_reply(reply) if shares else reply

    async def drain(self) -> None:
        """Wait for the calls under way on the running loop, whatever becomes of them."""
        await asyncio.gather(*(call.task for call in self._under_way.get().values()), return_exceptions=True)

    def _begun(self, key: str, call: Callable[[], Awaitable[ModelReply]]) -> _PendingCall:
        calls = self._under_way.get()
        calls[key] = begun = _PendingCall(task=asyncio.create_task(self._pay(key, call)))
        begun.task.add_done_callback(lambda done: _forget(calls, key, done))
        return begun

    async def _waited_for(self, call: _PendingCall) -> ModelReply:
        call.waiting += 1
        try:
            return await asyncio.shield(call.task)
        finally:
            call.waiting -= 1
            if not call.waiting:
                call.task.cancel()

    async def _pay(self, key: str, call: Callable[[], Awaitable[ModelReply]]) -> ModelReply:
        self._cache.check_room()
        reply = await call()
        self._cache.put_call(key, self.name, reply)
        return reply


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _forget(calls: dict[str, _PendingCall], key: str, done: asyncio.Task[ModelReply]) -> None:
    del calls[key]
    if not done.cancelled():
        # Asked for, so that asyncio doesn't report an error that no caller waited for.
        done.exception()


def _cached_reply(reply: ModelReply) -> ModelReply:
    return replace(reply, usage=Usage(cached=1))


_BATCH = 64


class CachedEmbedder:
    """Looks into the cache first. What is new is kept batch by batch: what one costs is not lost with the next."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def name(self) -> str:
        """The wrapped embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """One row a text, of those kept and those embedded now."""
        known = dict(self._cache.get_vectors(self.name, texts))
        missing = _missing(texts, known)
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            fresh = dict(zip(batch, await self._embedder.embed(batch), strict=True))
            self._cache.put_vectors(self.name, fresh)
            known |= fresh
        if not texts:
            return np.zeros((0, self.dimension), dtype=float32)
        return np.stack([known[text] for text in texts])

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Those of the texts that are not kept yet, without repeats."""
        return _missing(texts, self._cache.get_vectors(self.name, texts))


def _missing(texts: Sequence[str], known: Container[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text not in known]


class MemoryCallCache:
    """A `CallCache` for a library that may not be written."""

    def __init__(self) -> None:
        self._replies: dict[str, ModelReply] = {}

    def check_room(self) -> None:
        """There is always room."""

    def get_call(self, key: str) -> ModelReply | None:
        """The reply under a key, or None."""
        return self._replies.get(key)

    def put_call(self, key: str, _model: str, reply: ModelReply) -> None:
        """Keep a reply."""
        self._replies[key] = reply


class MemoryVectorCache:
    """A `VectorCache` of the `most` texts that were wanted last, for one embedder and one event loop.

    What another cache keeps is read from there; nothing is written to it."""

    def __init__(self, kept: VectorCache, *, most: int) -> None:
        self._kept = kept
        self._most = most
        self._vectors: OrderedDict[str, NDArray[float32]] = OrderedDict()

    def get_vectors(self, embedder: str, texts: Sequence[str]) -> Mapping[str, NDArray[float32]]:
        """The vectors of those texts that are remembered or kept."""
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        for text in known:
            self._vectors.move_to_end(text)
        missing = [text for text in texts if text not in known]
        kept = self._kept.get_vectors(embedder, missing) if missing else {}
        self.put_vectors(embedder, kept)
        return {**known, **kept}

    def put_vectors(self, _embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Remember the vectors of these texts, and forget those that were not wanted for longest."""
        # Copies: a row would keep the whole batch that it is a part of.
        self._vectors.update({text: vector.copy() for text, vector in vectors.items()})
        while len(self._vectors) > self._most:
            self._vectors.popitem(last=False)
