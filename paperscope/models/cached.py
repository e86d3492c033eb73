"""A model that pays for no request twice."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from paperscope.models.calls import SharedCall
from paperscope.models.per_loop import PerLoop
from paperscope.models.streaming import streamed
from paperscope.protocols import CallCache, LanguageModel
from paperscope.types import ModelReply, ModelRequest, Usage

__all__ = ["CachedModel"]


class CachedModel:
    """Looks into the cache first; equal requests at the same time share one call.

    A call whose caller gave up goes on and is kept, for it is paid; `drain` waits for such calls.
    """

    def __init__(self, model: LanguageModel, cache: CallCache) -> None:
        self._model = model
        self._cache = cache
        self._under_way: PerLoop[dict[str, SharedCall[ModelReply]]] = PerLoop(dict)

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
            return _free(kept)
        calls = self._under_way.get()
        if key in calls and not calls[key].given_up:
            return _free(await calls[key].join())
        shared = SharedCall(self._pay(key, call))
        calls[key] = shared
        shared.task.add_done_callback(lambda _done: _forget(calls, key, shared))
        return await shared.join()

    async def drain(self) -> None:
        """Wait for the calls under way on the running loop, whatever becomes of them."""
        await asyncio.gather(*(call.task for call in self._under_way.get().values()), return_exceptions=True)

    async def _pay(self, key: str, call: Callable[[], Awaitable[ModelReply]]) -> ModelReply:
        reply = await call()
        self._cache.put_call(key, self.name, reply)
        return reply


def _forget(calls: dict[str, SharedCall[ModelReply]], key: str, done: SharedCall[ModelReply]) -> None:
    if calls.get(key) is done:
        del calls[key]
    if not done.task.cancelled():
        # Asked for, so that asyncio doesn't report an error that no caller waited for.
        done.task.exception()


def _free(reply: ModelReply) -> ModelReply:
    return replace(reply, usage=Usage(cached=1))
