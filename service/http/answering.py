"""Answers a question for one request: queueing, time limit, cancellation on disconnect."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Coroutine
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from paperscope.library import Library
from paperscope_core.types import Answer, AnswerEvent, Context, Filters, StageEvent, Turn
from service.http.auth import CallerOf, LibraryOf, Service, ServiceOf
from service.http.problems import ProblemError

__all__ = ["MAX_QUESTION_CHARACTERS", "QuestionRequest", "QuestionRunner", "QuestionRunnerOf", "cancel_on_disconnect"]


Result = TypeVar("Result")


async def cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """What the work comes to; it is cancelled, and has ended, once the client is gone (ProblemError: 499).

    The request's body must have been read.
    """
    working = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(request))
    try:
        done, _ = await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        if working.cancel():
            await asyncio.wait({working})
    if working in done:
        return working.result()
    raise ProblemError(499, "client-gone", "The client hung up before there was an answer.")


async def _disconnected(request: Request) -> None:
    """Return when the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


MAX_QUESTION_CHARACTERS = 4000
"""How many letters a question may have."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionRequest:
    """A question, what it may be answered from, and what was asked before, oldest turn first."""

    question: str
    filters: Filters = field(default_factory=Filters)
    history: tuple[Turn, ...] = ()


class QuestionRunner:
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

    async def answer(self, asked: QuestionRequest) -> Answer:
        """The answer to a question."""

        async def work() -> Answer:
            async with self._turn():
                with self._service.tracing.stages("answer") as on_stage:
                    return await self._library.ask_async(
                        asked.question, filters=asked.filters, history=asked.history, on_stage=on_stage
                    )

        return await self._while_wanted(work())

    async def retrieve(self, asked: QuestionRequest) -> Context:
        """The context that an answer would rest on."""

        async def work() -> Context:
            async with self._turn():
                return await self._library.retrieve_async(asked.question, filters=asked.filters)

        return await self._while_wanted(work())

    async def stream(self, asked: QuestionRequest) -> AsyncGenerator[AnswerEvent, None]:
        """What happens while the answer comes about, once it has begun: what is wrong about a question is raised before
        there is anything to iterate. The events stop the work where they are closed before their end."""
        events = self._events(asked)
        return _chained(await self._while_wanted(anext(events)), events)

    async def _events(self, asked: QuestionRequest) -> AsyncGenerator[AnswerEvent, None]:
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
        return await cancel_on_disconnect(self._request, self._in_time(work, end=end))

    def _too_slow(self) -> ProblemError:
        detail = (
            f"There was no answer within {self._seconds:g} s; ask again (replies that are paid for are kept), "
            "ask less at once, or raise service.question_seconds."
        )
        return ProblemError(504, "too-slow", detail)


async def _question_runner(
    request: Request, service: ServiceOf, caller: CallerOf, library: LibraryOf
) -> QuestionRunner:
    return QuestionRunner(request, library, service=service, caller=caller.name)


QuestionRunnerOf = Annotated[QuestionRunner, Depends(_question_runner)]


async def _chained(first: T, rest: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    async with aclosing(rest):
        yield first
        async for item in rest:
            yield item
