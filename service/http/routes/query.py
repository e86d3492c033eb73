"""`POST /v1/query`: a question, and the whole answer, at once or as it comes about."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Request, Response
from fastapi.sse import format_sse_event
from pydantic import BaseModel, ConfigDict, Field, StrictBool
from starlette.exceptions import HTTPException

from paperscope.codec import to_json
from paperscope.errors import PaperscopeError
from paperscope.types import Answer, AnswerEvent, Claim, DoneEvent, Turn
from service.http.asking import Asked, AskerOf
from service.http.events import EventStream
from service.http.examples import ANSWER, EVENTS, QUESTION
from service.http.problems import problem_of
from service.http.routes.asked import Name, QuestionBody, QuestionText

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["questions"])

_LONGEST_ANSWER = 50_000


class TurnBody(BaseModel):
    """An earlier question and its answer."""

    model_config = ConfigDict(extra="forbid")

    question: QuestionText
    answer: str = Field(default="", max_length=_LONGEST_ANSWER)
    papers: list[Name] = Field(default=[], max_length=1000, description="the ids of the papers that the answer cites")


class QueryBody(QuestionBody):
    """A question, what it may be answered from, and what was asked before."""

    history: list[TurnBody] = Field(default=[], max_length=50, description="the turns before this one, oldest first")
    stream: StrictBool = Field(
        default=False, description="tell what happens as server-sent events; the answer comes last"
    )

    @property
    def asked(self) -> Asked:
        """The question as the library takes it. Raises InputError."""
        turns = (Turn(question=one.question, answer=one.answer, papers=tuple(one.papers)) for one in self.history)
        return Asked(question=self.question, filters=self.filters, history=tuple(turns))


@dataclass(frozen=True, kw_only=True, slots=True)
class CitationsEvent:
    """The claims of the final text with their evidence."""

    claims: tuple[Claim, ...]
    kind: Literal["citations"] = "citations"


@router.post(
    "/query",
    summary="Ask a question",
    response_model=Answer,
    responses={
        200: {
            "description": "The answer; with `stream`, events: `stage`, `text`, `citations`, `done` (or `error`).",
            "content": {"application/json": {"example": ANSWER}, "text/event-stream": {"example": EVENTS}},
        }
    },
)
async def query(
    request: Request,
    body: Annotated[QueryBody, Body(openapi_examples={"a table": {"value": QUESTION}})],
    asker: AskerOf,
) -> Response:
    """Answers from all papers, or from those that the filters leave.

    An answer has its claims with their evidence (element, page, box, words), the context that it rests on, readings of
    images, checks of its numbers and warnings. Streamed, the events are:

    - `stage`: a stage has begun (`stage`: understanding, retrieving, answering, reading images, merging, verifying);
    - `text`: the next piece of the answer's text; where `anew` is true, the text begins again, and what was told
      before is void;
    - `citations`: the claims of the final text with their evidence;
    - `done`: the whole answer, as the plain request gives it;
    - `error`: a problem document; nothing follows. What is wrong about the question itself is told by the status.
    """
    if not body.stream:
        return Response(to_json(await asker.answer(body.asked)), media_type="application/json")
    return EventStream(_told(request, await asker.stream(body.asked)))


async def _told(request: Request, events: AsyncGenerator[AnswerEvent, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(events):
        try:
            async for event in events:
                if isinstance(event, DoneEvent):
                    citations = CitationsEvent(claims=event.answer.claims)
                    yield format_sse_event(event=citations.kind, data_str=to_json(citations))
                told = event.answer if isinstance(event, DoneEvent) else event
                yield format_sse_event(event=event.kind, data_str=to_json(told))
        except (PaperscopeError, HTTPException) as error:
            problem, _ = problem_of(request, error)
            yield format_sse_event(event="error", data_str=problem.text)
