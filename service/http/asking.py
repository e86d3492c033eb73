"""The one way in for questions: every route that asks does so through an `Asker`.

It holds what they share: a turn at the gate, a limit of time, an end of the work that a client asked for and then hung
up on, and what is told of it to traces.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from paperscope.library import Library
from paperscope.types import Answer, AnswerEvent, Context, Filters, StageEvent, Turn
from service.http.access import CallerOf, LibraryOf, Service, ServiceOf
from service.http.hanging_up import while_connected
from service.http.problems import ProblemError

__all__ = ["LONGEST_QUESTION", "Asked", "Asker", "AskerOf"]

LONGEST_QUESTION = 4000
"""How many letters a question may have."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question, what it may be answered from, and what was asked before, oldest turn first."""

    question: str
    filters: Filters = field(default_factory=Filters)
    history: tuple[Turn, ...] = ()


class Asker:
    """Asks one library for one request, for at most so many seconds.

    Every method raises what `Library.ask` raises, and ProblemError: 429 where too many ask, 504 where the time is
    over, 503 where the service ends, 499 where the client hung up. The work then stops: no further model is called.
    """

    def __init__(self, request: Request, library: Library, *, service: Service, caller: str) -> None:
        self._request = request
        self._library = library
        self._service = service
        self._caller = caller
        self._seconds = service.settings.service.question_seconds

    async def answer(self, asked: Asked) -> Answer:
        """The answer to a question."""

        async def work() -> Answer:
            async with self._turn():
                with self._service.tracing.stages("answer") as on_stage:
                    return await self._library.ask_async(
                        asked.question, filters=asked.filters, history=asked.history, on_stage=on_stage
                    )

        return await self._while_wanted(work())

    async def retrieve(self, asked: Asked) -> Context:
        """The context that an answer would rest on."""

        async def work() -> Context:
            async with self._turn():
                return await self._library.retrieve_async(asked.question, filters=asked.filters)

        return await self._while_wanted(work())

    async def stream(self, asked: Asked) -> AsyncGenerator[AnswerEvent, None]:
        """What happens while the answer comes about, once it has begun: what is wrong about a question is raised before
        there is anything to iterate. The events stop the work where they are closed before their end."""
        events = self._events(asked)
        return _chained(await self._while_wanted(anext(events)), events)

    async def _events(self, asked: Asked) -> AsyncGenerator[AnswerEvent, None]:
        end = asyncio.get_running_loop().time() + self._seconds
        async with self._turn():
            stream = self._library.stream(asked.question, filters=asked.filters, history=asked.history)
            with self._service.tracing.stages("answer") as on_stage:
                async with aclosing(stream):
                    while (event := await self._in_time(anext(stream, None), end=end)) is not None:
                        if isinstance(event, StageEvent):
                            on_stage(event.stage)
                        yield event

    def _turn(self) -> AbstractAsyncContextManager[None]:
        return self._service.gate.admit(self._caller)

    async def _in_time(self, work: Awaitable[T], *, end: float) -> T:
        try:
            async with self._service.ending.limit(end):
                return await work
        except TimeoutError:
            raise self._too_slow() from None

    async def _while_wanted(self, work: Awaitable[T]) -> T:
        end = asyncio.get_running_loop().time() + self._seconds
        return await while_connected(self._request, self._in_time(work, end=end))

    def _too_slow(self) -> ProblemError:
        detail = (
            f"There was no answer within {self._seconds:g} s; ask again (replies that are paid for are kept), "
            "ask less at once, or raise service.question_seconds."
        )
        return ProblemError(504, "too-slow", detail)


async def _asker(request: Request, service: ServiceOf, caller: CallerOf, library: LibraryOf) -> Asker:
    return Asker(request, library, service=service, caller=caller.name)


AskerOf = Annotated[Asker, Depends(_asker)]


async def _chained(first: T, rest: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    async with aclosing(rest):
        yield first
        async for item in rest:
            yield item
