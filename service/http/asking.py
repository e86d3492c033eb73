"""The one way in for questions: every route that asks does so through an `Asker`.

It holds what they share: a limit of time, and an end of the work that a client asked for and then hung up on.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from paperscope.library import Library
from paperscope.types import Answer, AnswerEvent, Context, Filters, Turn
from service.http.access import LibraryOf, ServiceOf
from service.http.problems import ProblemError

__all__ = ["Asked", "Asker", "AskerOf"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question, what it may be answered from, and what was asked before, oldest turn first."""

    question: str
    filters: Filters = field(default_factory=Filters)
    history: tuple[Turn, ...] = ()


class Asker:
    """Asks one library for one request, for at most so many seconds.

    Every method raises what `Library.ask` raises, and ProblemError: 504 where the time is over, 499 where the client
    hung up. The work then stops: no further model is called.
    """

    def __init__(self, request: Request, library: Library, *, seconds: float) -> None:
        self._request = request
        self._library = library
        self._seconds = seconds

    async def answer(self, asked: Asked) -> Answer:
        """The answer to a question."""
        work = self._library.ask_async(asked.question, filters=asked.filters, history=asked.history)
        return await self._while_wanted(work)

    async def retrieve(self, asked: Asked) -> Context:
        """The context that an answer would rest on."""
        return await self._while_wanted(self._library.retrieve_async(asked.question, filters=asked.filters))

    async def stream(self, asked: Asked) -> AsyncGenerator[AnswerEvent, None]:
        """What happens while the answer comes about, once it has begun: what is wrong about a question is raised before
        there is anything to iterate. The events stop the work where they are closed before their end."""
        events = self._events(asked)
        return _chained(await self._while_wanted(anext(events)), events)

    async def _events(self, asked: Asked) -> AsyncGenerator[AnswerEvent, None]:
        end = asyncio.get_running_loop().time() + self._seconds
        stream = self._library.stream(asked.question, filters=asked.filters, history=asked.history)
        async with aclosing(stream):
            while True:
                try:
                    async with asyncio.timeout_at(end):
                        event = await anext(stream, None)
                except TimeoutError:
                    raise self._too_slow() from None
                if event is None:
                    return
                yield event

    async def _while_wanted(self, work: Awaitable[T]) -> T:
        working = asyncio.ensure_future(work)
        gone = asyncio.create_task(_hung_up(self._request))
        try:
            done, _ = await asyncio.wait({working, gone}, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not working.done():
                working.cancel()
        if working in done:
            return working.result()
        if gone in done:
            raise ProblemError(499, "client-gone", "The client hung up before there was an answer.")
        raise self._too_slow()

    def _too_slow(self) -> ProblemError:
        detail = (
            f"There was no answer within {self._seconds:g} s; ask again (replies that are paid for are kept), "
            "ask less at once, or raise service.question_seconds."
        )
        return ProblemError(504, "too-slow", detail)


async def _asker(request: Request, service: ServiceOf, library: LibraryOf) -> Asker:
    return Asker(request, library, seconds=service.settings.service.question_seconds)


AskerOf = Annotated[Asker, Depends(_asker)]


async def _chained(first: T, rest: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    async with aclosing(rest):
        yield first
        async for item in rest:
            yield item


async def _hung_up(request: Request) -> None:
    """Return when the client is gone; the request's body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
