"""Calls from the workers of a cluster to the process that has the library: its store, and models that cost money.

The workers have neither keys nor the database. Their calls wait in an actor, the mailbox, until that process takes
them; so every model call is cached, limited and counted where all of a library's are, and ends even if its worker dies.
"""

import asyncio
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy import float32
from numpy.typing import NDArray

from paperscope.adding import Stage
from paperscope_core.models.concurrency import PerLoop
from paperscope_core.types import ModelReply, ModelRequest

__all__ = ["Call", "Mailbox", "RemoteEmbedder", "RemoteModel", "RemoteStore", "Sender"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call of a method of the library's process.

    Attributes:
        target: "store", the role of a model, or "stages".
        work: The number of the add that calls.
    """

    target: str
    method: str
    work: int
    arguments: tuple[object, ...] = ()
    options: Mapping[str, object] | None = None


class Mailbox:
    """An actor that keeps calls until they are taken, and their callers waiting until they are answered.

    Calls and results are pickled by those who exchange them.
    """

    def __init__(self) -> None:
        self._calls: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()
        self._results: dict[int, asyncio.Future[bytes]] = {}
        self._number = 0

    async def ask(self, call: bytes) -> bytes:
        """Return the result of a call, or the error that it raises."""
        self._number += 1
        number = self._number
        self._results[number] = asyncio.get_running_loop().create_future()
        self._calls.put_nowait((number, call))
        try:
            return await self._results[number]
        finally:
            del self._results[number]

    async def take(self) -> list[tuple[int, bytes]]:
        """Return the calls that wait, with their numbers; at least one."""
        taken = [await self._calls.get()]
        while not self._calls.empty():
            taken.append(self._calls.get_nowait())
        return taken

    async def answer(self, number: int, result: bytes) -> None:
        """Return a result to the caller, if it still waits."""
        waiting = self._results.get(number)
        if waiting is not None and not waiting.done():
            waiting.set_result(result)


class Sender:
    """Sends a worker's calls to the mailbox.

    Attributes:
        work: The number of the add that is in progress.
    """

    def __init__(self, ray: Any, mailbox: Any) -> None:  # noqa: ANN401
        self._ray = ray
        self._mailbox = mailbox
        self.work = 0

    def call(self, target: str, method: str, *arguments: object, **options: object) -> Any:  # noqa: ANN401
        """Call a method and wait for its result; its errors are raised."""
        return _opened(self._ray.get(self._ask(target, method, arguments, options)))

    async def call_async(self, target: str, method: str, *arguments: object) -> Any:  # noqa: ANN401
        """Awaitable `call`."""
        return _opened(await self._ask(target, method, arguments, None))

    def report(self, stage: Stage) -> None:
        """Report the stage of the add, without waiting."""
        self._ask("stages", "report", (stage,), None)

    def _ask(
        self, target: str, method: str, arguments: tuple[object, ...], options: Mapping[str, object] | None
    ) -> Any:  # noqa: ANN401
        call = Call(target=target, method=method, work=self.work, arguments=arguments, options=options)
        return self._mailbox.ask.remote(pickle.dumps(call))


def _opened(result: bytes) -> object:
    value = pickle.loads(result)  # noqa: S301 # of the library's process
    if isinstance(value, Exception):
        raise value
    return value


class RemoteStore:
    """A `PaperStore` in the library's process: each of its methods is a call."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def __getattr__(self, method: str) -> Any:  # noqa: ANN401
        return partial(self._sender.call, "store", method)


class RemoteModel:
    """A `LanguageModel` in the library's process.

    Args:
        concurrency: How many calls are sent at once: no more than the library's process makes.
    """

    def __init__(self, sender: Sender, *, role: str, name: str, concurrency: int) -> None:
        self.name = name
        self._sender = sender
        self._role = role
        # Each add has an event loop of its own.
        self._slots = PerLoop(partial(asyncio.Semaphore, concurrency))

    async def complete(self, request: ModelRequest) -> ModelReply:
        """See `LanguageModel.complete`."""
        async with self._slots.get():
            reply: ModelReply = await self._sender.call_async(self._role, "complete", request)
            return reply

    def redacted(self, text: str) -> str:
        """See `LanguageModel.redacted`."""
        return str(self._sender.call(self._role, "redacted", text))


class RemoteEmbedder:
    """An `Embedder` in the library's process, or in an actor.

    Args:
        sender: Sends the calls to the library's process; None for the actor.
        actor: The handle of the actor.
    """

    def __init__(self, *, name: str, sender: Sender | None = None, actor: Any = None) -> None:  # noqa: ANN401
        self.name = name
        self._sender = sender
        self._actor = actor

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """See `Embedder.embed`."""
        if self._sender is not None:
            vectors: NDArray[float32] = await self._sender.call_async("embed", "embed", list(texts))
        else:
            vectors = await self._actor.embed.remote(list(texts))
        return vectors
