"""Answers a question for one request: it waits in the fair queue, has a time limit, and stops with the client."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from paperscope.library import Library
from paperscope.question_estimates import QuestionEstimate, QuestionEstimator
from paperscope_core.errors import UnknownConversationError
from paperscope_core.types import Answer, AskRequest, Context, Filters, StageEvent, ToolCall, ToolResult
from service.http.auth import CallerOf, ServiceOf, unknown_key, while_key_works
from service.http.background import BackgroundWork, Tell
from service.http.pictures import with_pictures
from service.http.problems import ProblemError

__all__ = ["QuestionRunner", "QuestionRunnerOf", "cancel_on_disconnect"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class QuestionRunner:
    """Asks the caller's library for one request.

    Every method raises what `Library.ask` raises, and ProblemError: 429 if too many wait, 504 after the time limit, 503
    if the service shuts down, 499 if the client disconnects, 401 if the key is revoked. The work then stops, and calls
    no further model.
    """

    request: Request
    service: ServiceOf
    caller: CallerOf

    async def begin(self, asked: AskRequest, *, conversation: str = "", streamed: bool = True) -> BackgroundWork:
        """Begin to answer a question, after the turns of a conversation in which the answer is then stored.

        Returns once the first stage has begun, so errors in the question are raised before the response begins. Until
        then, the work stops if the client disconnects.

        Args:
            conversation: The conversation's id, "" for none.
            streamed: Whether the text is among the events.
        """
        about = self.caller.conversation(conversation) if conversation else ""
        answering = partial(self._answer, asked, conversation=conversation, streamed=streamed)
        work = await self.service.background.begin(answering, about=about)
        try:
            await cancel_on_disconnect(self.request, work.begun())
        except (asyncio.CancelledError, ProblemError):
            # The client has left; an error of the work has ended it.
            work.task.cancel()
            raise
        return work

    async def answer(self, asked: AskRequest, *, conversation: str = "") -> Answer:
        """Return the answer. If the client disconnects meanwhile, the work goes on only in a conversation; see
        `begin`."""
        work = await self.begin(asked, conversation=conversation, streamed=False)
        try:
            return await cancel_on_disconnect(self.request, work.answer())
        finally:
            work.leave()

    async def retrieve(self, question: str, filters: Filters, *, each_paper: bool = False) -> Context:
        """Return the context that an answer would be based on."""

        async def work() -> Context:
            async with self._library() as library, self._slot():
                return await library.retrieve_async(question, filters=filters, each_paper=each_paper)

        return await cancel_on_disconnect(self.request, work())

    async def look_up(self, call: ToolCall) -> ToolResult:
        """Return what a reading tool finds."""

        async def work() -> ToolResult:
            async with self.lend() as library:
                return await library.look_up_async(call)

        return await cancel_on_disconnect(self.request, work())

    async def estimate(
        self, work: Callable[[QuestionEstimator], Coroutine[Any, Any, QuestionEstimate]]
    ) -> QuestionEstimate:
        """Return the estimated usage of a question or a table. Estimates take turns."""

        async def estimated() -> QuestionEstimate:
            async with self._library() as library, self.service.estimates.slot(self.caller.name):
                return await library.run(work(library.question_estimator()))

        return await cancel_on_disconnect(self.request, estimated())

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Library]:
        """Lend the caller's library for a look-up, within the time limit; requests take turns."""
        async with self._library() as library, self.service.lookups.slot(self.caller.name):
            yield library

    async def _answer(self, asked: AskRequest, tell: Tell, *, conversation: str, streamed: bool) -> Answer:
        async with self._library(detached=bool(conversation)) as library:
            if conversation:
                found = await asyncio.to_thread(library.conversations.get, conversation)
                await asyncio.to_thread(library.conversations.check_room, found.head)
                asked = replace(asked, history=found.history)
            async with self._slot():
                answer = await library.answer(
                    asked, on_stage=lambda stage: tell(StageEvent(stage=stage)), on_text=tell if streamed else None
                )
            answer = with_pictures(answer)
            if conversation:
                # It may have been deleted meanwhile.
                with suppress(UnknownConversationError):
                    await asyncio.to_thread(library.conversations.append, conversation, answer)
            return answer

    def _slot(self) -> AbstractAsyncContextManager[None]:
        return self.service.questions.slot(self.caller.name)

    @asynccontextmanager
    async def _library(self, *, detached: bool = False) -> AsyncIterator[Library]:
        """Lend the caller's library for as long as a question may take; if `detached` from the request, while the key
        works."""
        seconds = self.service.settings.service.question_seconds
        revoked = asyncio.timeout(None)
        try:
            async with AsyncExitStack() as stack:
                deadline = asyncio.get_running_loop().time() + seconds
                await stack.enter_async_context(self.service.shutdown.timeout_at(deadline))
                if detached:
                    await stack.enter_async_context(while_key_works(self.service, self.caller, revoked))
                yield await stack.enter_async_context(self.service.libraries.use(self.caller.library))
        except TimeoutError:
            if revoked.expired():
                raise unknown_key() from None
            detail = (
                f"There was no answer within {seconds:g} s; ask again (replies that are paid for are kept), ask less "
                "at once, or raise service.question_seconds."
            )
            raise ProblemError(504, "too-slow", detail) from None


QuestionRunnerOf = Annotated[QuestionRunner, Depends()]


async def cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, which is cancelled if the client disconnects (ProblemError, 499).

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
