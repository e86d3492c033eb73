"""Questions: answer one, or retrieve its context."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Request, Response
from fastapi.sse import format_sse_event
from pydantic import BaseModel, ConfigDict, Field, StrictBool
from starlette.exceptions import HTTPException

from paperscope_core.codec import to_json
from paperscope_core.errors import PaperscopeError
from paperscope_core.types import Answer, AnswerEvent, Claim, Context, DoneEvent, Turn
from query import render_context
from service.http.answering import QuestionRequest, QuestionRunnerOf
from service.http.examples import ANSWER, CONTEXT, CONTEXT_CSV, EVENTS, QUESTION
from service.http.parameters import Name, QuestionBody, QuestionText
from service.http.problems import problem_of
from service.http.responses import EventStreamResponse

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
    def asked(self) -> QuestionRequest:
        """The question as the library takes it. Raises InputError."""
        turns = (Turn(question=one.question, answer=one.answer, papers=tuple(one.papers)) for one in self.history)
        return QuestionRequest(question=self.question, filters=self.filters, history=tuple(turns))


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
    asker: QuestionRunnerOf,
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
    return EventStreamResponse(_told(request, await asker.stream(body.asked)))


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


_CSV = "text/csv"


class RetrieveBody(QuestionBody):
    """A question and what it may be answered from."""

    format: Literal["json", "csv"] | None = Field(
        default=None, description="the form of the context; left out, the Accept header decides"
    )


@router.post(
    "/retrieve",
    summary="Retrieve the context of a question",
    response_model=Context,
    responses={
        200: {
            "description": "The context: entities, relations, sources and images, each with its places on paper.",
            "content": {"application/json": {"example": CONTEXT}, _CSV: {"example": CONTEXT_CSV}},
        }
    },
)
async def retrieve(
    request: Request,
    body: Annotated[RetrieveBody, Body(openapi_examples={"a table": {"value": QUESTION}})],
    asker: QuestionRunnerOf,
) -> Response:
    """What an answer would rest on, without answering, as JSON or as sections of CSV (`Accept: text/csv`)."""
    context = await asker.retrieve(QuestionRequest(question=body.question, filters=body.filters))
    form = body.format or ("csv" if _CSV in request.headers.get("accept", "") else "json")
    if form == "csv":
        return Response(render_context(context), media_type=_CSV)
    return Response(to_json(context), media_type="application/json")
