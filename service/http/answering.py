"""Answers a question for one request: it waits in the fair queue, has a time limit, and stops with the client."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Coroutine
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from paperscope.asking import AskRequest
from paperscope.library import Library
from paperscope_core.errors import UnknownConversationError
from paperscope_core.types import Answer, AnswerEvent, Context, DoneEvent, StageEvent
from service.http.auth import CallerOf, LibraryOf, ServiceOf, unknown_key, while_key_works
from service.http.pictures import with_pictures
from service.http.problems import ProblemError

__all__ = ["MAX_QUESTION_LENGTH", "QuestionRunner", "QuestionRunnerOf", "cancel_on_disconnect"]

MAX_QUESTION_LENGTH = 4000
"""How many characters a question may have."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class QuestionRunner:
    """Asks a library for one request.

    Every method raises what `Library.ask` raises, and ProblemError: 429 if too many wait, 504 after the time limit, 503
    if the service shuts down, 499 if the client disconnects. The work then stops, and calls no further model.
    """

    request: Request
    service: ServiceOf
    caller: CallerOf
    library: LibraryOf

    async def answer(self, asked: AskRequest) -> Answer:
        """The answer."""

        async def work() -> Answer:
            async with self._slot():
                with self.service.tracing.stages("answer") as on_stage:
                    answer = await self.library.ask_async(
                        asked.question, filters=asked.filters, history=asked.history, on_stage=on_stage
                    )
                    return with_pictures(answer)

        return await self._while_connected(work())

    async def retrieve(self, asked: AskRequest) -> Context:
        """The context that an answer would be based on."""

        async def work() -> Context:
            async with self._slot():
                return await self.library.retrieve_async(asked.question, filters=asked.filters)

        return await self._while_connected(work())

    async def stream(self, asked: AskRequest) -> AsyncGenerator[AnswerEvent, None]:
        """The events of the answer.

        Returns once the first event is there, so errors in the question are raised before the response begins. Closing
        the generator stops the work.
        """
        events = self._events(asked, self.library)
        return _chain(await self._while_connected(anext(events)), events)

    async def converse(self, asked: AskRequest, conversation: str) -> AsyncGenerator[AnswerEvent, None]:
        """Like `stream`, but the answer is stored in a conversation, also if the client leaves after the first event.

        Closing the generator does not stop the work.
        """
        about = self.caller.conversation(conversation)
        work = await self.service.background.begin(self._stored_events(asked, conversation), about=about)
        events = work.events()
        try:
            return _chain(await self._while_connected(anext(events)), events)
        except BaseException:
            work.task.cancel()
            raise

    async def answer_in(self, asked: AskRequest, conversation: str) -> Answer:
        """The answer, which is stored in a conversation, also if the client leaves meanwhile."""
        events = await self.converse(asked, conversation)

        async def last() -> Answer:
            async with aclosing(events):
                return [event.answer async for event in events if isinstance(event, DoneEvent)][-1]

        return await self._while_connected(last())

    async def _stored_events(self, asked: AskRequest, conversation: str) -> AsyncGenerator[AnswerEvent, None]:
        """The events of the answer, independent of the request."""
        timeout = asyncio.timeout(None)
        try:
            async with (
                while_key_works(self.service, self.caller, timeout),
                self.service.libraries.use(self.caller.library) as library,
                aclosing(self._events(asked, library)) as events,
            ):
                async for event in events:
                    if isinstance(event, DoneEvent):
                        # It may have been deleted meanwhile.
                        with suppress(UnknownConversationError):
                            await asyncio.to_thread(library.conversations.append, conversation, event.answer)
                    yield event
        except TimeoutError:
            if timeout.expired():
                raise unknown_key() from None
            raise

    async def _events(self, asked: AskRequest, library: Library) -> AsyncGenerator[AnswerEvent, None]:
        deadline = self._deadline()
        async with self._slot():
            stream = library.stream(asked.question, filters=asked.filters, history=asked.history)
            with self.service.tracing.stages("answer") as on_stage:
                async with aclosing(stream):
                    while (event := await self._before(deadline, anext(stream, None))) is not None:
                        if isinstance(event, StageEvent):
                            on_stage(event.stage)
                        elif isinstance(event, DoneEvent):
                            event = replace(event, answer=with_pictures(event.answer))
                        yield event

    def _slot(self) -> AbstractAsyncContextManager[None]:
        return self.service.questions.slot(self.caller.name)

    def _deadline(self) -> float:
        return asyncio.get_running_loop().time() + self.service.settings.service.question_seconds

    async def _before(self, deadline: float, work: Awaitable[T]) -> T:
        try:
            async with self.service.shutdown.timeout_at(deadline):
                return await work
        except TimeoutError:
            detail = (
                f"There was no answer within {self.service.settings.service.question_seconds:g} s; ask again (replies "
                "that are paid for are kept), ask less at once, or raise service.question_seconds."
            )
            raise ProblemError(504, "too-slow", detail) from None

    async def _while_connected(self, work: Awaitable[T]) -> T:
        return await cancel_on_disconnect(self.request, self._before(self._deadline(), work))


QuestionRunnerOf = Annotated[QuestionRunner, Depends()]


async def cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled if the client disconnects (ProblemError, 499).

    The request's body must have been read.
    """
    working = asyncio.create_task(work)
    disconnected = asyncio.create_task(_disconnected(request))
    try:
        done, _ = await asyncio.wait({working, disconnected}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        disconnected.cancel()
        if working.cancel():
            await asyncio.wait({working})
    if working in done:
        return working.result()
    raise ProblemError(499, "client-gone", "The client disconnected before there was an answer.")


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _chain(first: T, rest: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    async with aclosing(rest):
        yield first
        async for item in rest:
            yield item
