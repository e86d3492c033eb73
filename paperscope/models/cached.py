"""A model that pays for no request twice."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from paperscope.models.per_loop import PerLoop
from paperscope.models.streaming import streamed
from paperscope.protocols import CallCache, LanguageModel
from paperscope.types import ModelReply, ModelRequest, Usage

__all__ = ["CachedModel"]


@dataclass(kw_only=True, slots=True)
class _Call:
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
        self._under_way: PerLoop[dict[str, _Call]] = PerLoop(dict)

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
            return _free(reply) if shares else reply

    async def drain(self) -> None:
        """Wait for the calls under way on the running loop, whatever becomes of them."""
        await asyncio.gather(*(call.task for call in self._under_way.get().values()), return_exceptions=True)

    def _begun(self, key: str, call: Callable[[], Awaitable[ModelReply]]) -> _Call:
        calls = self._under_way.get()
        calls[key] = begun = _Call(task=asyncio.create_task(self._pay(key, call)))
        begun.task.add_done_callback(lambda done: _forget(calls, key, done))
        return begun

    async def _waited_for(self, call: _Call) -> ModelReply:
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


def _forget(calls: dict[str, _Call], key: str, done: asyncio.Task[ModelReply]) -> None:
    del calls[key]
    if not done.cancelled():
        # Asked for, so that asyncio doesn't report an error that no caller waited for.
        done.exception()


def _free(reply: ModelReply) -> ModelReply:
    return replace(reply, usage=Usage(cached=1))
