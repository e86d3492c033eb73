"""Caches of model replies and embeddings, and the wrappers that use them."""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import StoreError
from paperscope_core.models.concurrency import PerLoop
from paperscope_core.models.usage import CallListener
from paperscope_core.models.wrapper import EmbedderWrapper, ModelWrapper, SendRequest, reply_key
from paperscope_core.protocols import CallCache, Embedder, LanguageModel, SharedCallCache, VectorCache
from paperscope_core.types import ModelCall, ModelReply, ModelRequest, Usage

__all__ = ["CachedEmbedder", "CachedModel", "MemoryCallCache", "MemoryVectorCache"]

# Texts per batch. Vectors are cached after each batch, so an interrupted embedding loses at most one.
_BATCH_TEXTS = 64
# Long, because a process of a loaded machine may not extend its leases for many seconds. A machine that failed delays
# others as long.
_LEASE_SECONDS = 30.0
_POLL_SECONDS = 0.2


@dataclass(kw_only=True, slots=True)
class _PendingCall:
    """A call in progress, with the number of callers that wait for its reply."""

    task: asyncio.Task[ModelReply]
    waiting: int = 0


class CachedModel(ModelWrapper):
    """Answers from a cache if possible; concurrent equal requests share one call, also those of other processes if the
    cache is a `SharedCallCache`.

    A call is sent only if the cache can store its reply. A call is cancelled once all its callers are cancelled; if it
    ends with a reply nevertheless (see `FinishingModel`), the reply is cached. `drain` waits for such calls.

    Args:
        on_call: Called with each reply that comes from the cache.
        patience: How many seconds to wait at most for a call of another process, before the same call is made here.
    """

    def __init__(
        self, model: LanguageModel, cache: CallCache, *, on_call: CallListener | None = None, patience: float = 120.0
    ) -> None:
        super().__init__(model)
        self._cache = cache
        self._on_call = on_call
        self._patience = patience
        self._pending: PerLoop[dict[str, _PendingCall]] = PerLoop(dict)

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Reply to a request while it is written; a cached or shared reply comes in one piece."""
        streamed = False

        def forward(text: str) -> None:
            nonlocal streamed
            streamed = True
            on_text(text)

        reply = await super().stream(request, forward)
        if not streamed:
            on_text(reply.text)
        return reply

    async def _call(self, request: ModelRequest, send: SendRequest, /) -> ModelReply:
        key = reply_key(self, request)
        cached = self._cache.get_call(key)
        if cached is not None:
            return self._kept(cached)
        pending = self._pending.get()
        while True:
            shared = key in pending
            call = pending[key] if shared else self._start(key, send)
            try:
                reply = await self._wait(call)
            except asyncio.CancelledError:
                # All earlier callers were cancelled, but not this one, and the call ended without a reply: repeat it.
                if shared and call.task.cancelled() and not _is_cancelling():
                    continue
                raise
            return _cached_reply(reply) if shared else reply

    def _kept(self, reply: ModelReply) -> ModelReply:
        if self._on_call is not None:
            self._on_call(ModelCall(outcome="kept"))
        return _cached_reply(reply)

    async def drain(self) -> None:
        """Wait until all calls in progress on the running loop have ended, with or without a reply."""
        await asyncio.gather(*(call.task for call in self._pending.get().values()), return_exceptions=True)

    def _start(self, key: str, send: SendRequest) -> _PendingCall:
        pending = self._pending.get()
        pending[key] = call = _PendingCall(task=asyncio.create_task(self._send(key, send)))
        call.task.add_done_callback(lambda done: _remove(pending, key, done))
        return call

    async def _wait(self, call: _PendingCall) -> ModelReply:
        call.waiting += 1
        try:
            return await asyncio.shield(call.task)
        finally:
            call.waiting -= 1
            if not call.waiting:
                call.task.cancel()

    async def _send(self, key: str, send: SendRequest) -> ModelReply:
        self._cache.check_room()
        if not isinstance(self._cache, SharedCallCache):
            return await self._pay(key, send)
        owner = secrets.token_hex(8)
        renewing: asyncio.Task[None] | None = None
        try:
            reply = await self._reply_of_another(self._cache, key, owner)
            if reply is None:
                renewing = asyncio.create_task(_renew(self._cache, key, owner))
                return await self._pay(key, send)
            return self._kept(reply)
        except BaseException:
            with suppress(StoreError):
                self._cache.release_call(key, owner)
            raise
        finally:
            if renewing is not None:
                renewing.cancel()

    async def _pay(self, key: str, send: SendRequest) -> ModelReply:
        reply = await send()
        self._cache.put_call(key, self.name, reply)
        return reply

    async def _reply_of_another(self, cache: SharedCallCache, key: str, owner: str) -> ModelReply | None:
        """Lease the call, and wait while another process makes it; return its reply, or None if it is to be made
        here."""
        end = time.monotonic() + self._patience
        while not await asyncio.to_thread(cache.lease_call, key, owner, seconds=_LEASE_SECONDS):
            if time.monotonic() >= end:
                return None
            await asyncio.sleep(_POLL_SECONDS)
            if (reply := cache.get_call(key)) is not None:
                return reply
        # It may have been stored just before.
        if (reply := cache.get_call(key)) is not None:
            cache.release_call(key, owner)
        return reply


async def _renew(cache: SharedCallCache, key: str, owner: str) -> None:
    """Extend a lease until this is cancelled. A lease that is lost costs a second call, and nothing else."""
    while True:
        await asyncio.sleep(_LEASE_SECONDS / 3)
        with suppress(StoreError):
            await asyncio.to_thread(cache.lease_call, key, owner, seconds=_LEASE_SECONDS)


def _is_cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _remove(pending: dict[str, _PendingCall], key: str, done: asyncio.Task[ModelReply]) -> None:
    del pending[key]
    if not done.cancelled():
        # Retrieve the error, so that asyncio does not log it when no caller waits for it.
        done.exception()


def _cached_reply(reply: ModelReply) -> ModelReply:
    return replace(reply, usage=Usage(cached=1))


class CachedEmbedder(EmbedderWrapper):
    """Embeds only texts that are not in a cache, and caches them batch by batch."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        super().__init__(embedder)
        self._cache = cache

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts, or take their vectors from the cache. See `Embedder.embed`."""
        vectors = dict(self._cache.get_vectors(self.name, texts))
        missing = _missing(texts, vectors)
        for start in range(0, len(missing), _BATCH_TEXTS):
            batch = missing[start : start + _BATCH_TEXTS]
            new = dict(zip(batch, await self._embedder.embed(batch), strict=True))
            self._cache.put_vectors(self.name, new)
            vectors |= new
        if not texts:
            return np.empty((0, 0), dtype=float32)
        return np.stack([vectors[text] for text in texts])

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Return the texts that are not in the cache, without repeats."""
        return _missing(texts, self._cache.get_vectors(self.name, texts))


def _missing(texts: Sequence[str], cached: Container[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text not in cached]


class MemoryCallCache:
    """A `CallCache` in memory, for read-only libraries."""

    def __init__(self) -> None:
        self._replies: dict[str, ModelReply] = {}

    def check_room(self) -> None:
        """Do nothing: memory is not limited."""

    def get_call(self, key: str) -> ModelReply | None:
        """Return the reply under a key, or None."""
        return self._replies.get(key)

    def put_call(self, key: str, _model: str, reply: ModelReply) -> None:
        """Store a reply."""
        self._replies[key] = reply


class MemoryVectorCache:
    """A `VectorCache` of the most recently used texts in front of another one, to which it does not write.

    For one embedder and one event loop.

    Args:
        backing: The cache that is read for texts that are not in memory.
    """

    def __init__(self, backing: VectorCache, *, size: int) -> None:
        self._backing = backing
        self._size = size
        self._vectors: OrderedDict[str, NDArray[float32]] = OrderedDict()

    def get_vectors(self, embedder: str, texts: Sequence[str]) -> Mapping[str, NDArray[float32]]:
        """Return the vectors of those texts that either cache contains."""
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        for text in known:
            self._vectors.move_to_end(text)
        missing = [text for text in texts if text not in known]
        backed = self._backing.get_vectors(embedder, missing) if missing else {}
        self.put_vectors(embedder, backed)
        return {**known, **backed}

    def put_vectors(self, _embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Store the vectors of these texts, and drop the least recently used ones."""
        # Copy the row, because a view would keep the whole matrix in memory.
        self._vectors.update({text: vector.copy() for text, vector in vectors.items()})
        while len(self._vectors) > self._size:
            self._vectors.popitem(last=False)
