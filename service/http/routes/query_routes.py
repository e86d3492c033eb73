"""Questions: answer one, as a whole or as a stream, or retrieve its context."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Body, Request, Response
from fastapi.sse import format_sse_event
from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator
from starlette.exceptions import HTTPException

from paperscope.question_estimates import QuestionEstimate
from paperscope_core.codec import to_json
from paperscope_core.errors import PaperscopeError
from paperscope_core.types import Answer, AskRequest, Claim, Context, DoneEvent, Turn
from query import render_context
from service.http.answering import QuestionRunnerOf
from service.http.background import BackgroundWork
from service.http.parameters import CONVERSATION_PATTERN, Name, QuestionBody, QuestionText
from service.http.problems import error_text
from service.http.responses import EventStreamResponse, example, json_response

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["questions"])

_MAX_ANSWER_LENGTH = 50_000
_CSV = "text/csv"
_QUESTION_EXAMPLES = {"a table": {"value": example("question")}}


class TurnBody(BaseModel):
    """An earlier question and its answer."""

    model_config = ConfigDict(extra="forbid")

    question: QuestionText
    answer: str = Field(default="", max_length=_MAX_ANSWER_LENGTH)
    papers: list[Name] = Field(default=[], max_length=1000, description="the ids of the papers that the answer cites")


class QueryBody(QuestionBody):
    """A question, the filters on its sources, and the turns before it."""

    history: list[TurnBody] = Field(default=[], max_length=50, description="the turns before this one, oldest first")
    conversation: str | None = Field(
        default=None,
        pattern=CONVERSATION_PATTERN,
        description="the conversation to ask in: its turns are the history, and the answer is stored as the next one",
    )
    stream: StrictBool = Field(default=False, description="send server-sent events; the answer is the last one")

    @model_validator(mode="after")
    def _one_history(self) -> Self:
        if self.conversation and self.history:
            raise ValueError("history: leave it out with a conversation, whose turns are the history")
        return self

    @property
    def asked(self) -> AskRequest:
        """The question as the library takes it. Raises InputError."""
        turns = (Turn(question=one.question, answer=one.answer, papers=tuple(one.papers)) for one in self.history)
        return AskRequest(
            question=self.question, filters=self.filters, history=tuple(turns), each_paper=self.each_paper
        )


class RetrieveBody(QuestionBody):
    """A question and the filters on its sources."""

    format: Literal["json", "csv"] | None = Field(
        default=None, description="the format of the context; by default, the Accept header decides"
    )


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
            "content": {
                "application/json": {"example": example("answer")},
                "text/event-stream": {"example": example("events")},
            },
        }
    },
)
async def query(
    request: Request,
    body: Annotated[QueryBody, Body(openapi_examples=_QUESTION_EXAMPLES)],
    runner: QuestionRunnerOf,
) -> Response:
    """Answer from all papers, or from those that match the filters.

    An answer has claims with their evidence (element, page, box, quote), the context that it is based on, readings of
    images, checks of its numbers, and findings: what is not supported, and what
    was left out. Streamed, the events are:

    - `stage`: a stage has begun (`stage`: understanding, retrieving, answering, looking up, reading images,
      merging, verifying; with `each_paper`, how many papers have been asked: "asking papers: 3 of 12");
    - `text`: the next piece of the answer's text; if `anew` is true, the text begins again, and what was sent before, a
      draft that images or look-ups changed, is void;
    - `citations`: the claims of the final text with their evidence;
    - `done`: the whole answer, as without `stream`;
    - `error`: a problem document; nothing follows. Errors in the question itself are reported by the status.

    In a `conversation`, the answer is completed and stored also if the client disconnects after the first event.
    """
    conversation = body.conversation or ""
    if not body.stream:
        return json_response(await runner.answer(body.asked, conversation=conversation))
    work = await runner.begin(body.asked, conversation=conversation)
    return EventStreamResponse(_events(request, work), on_end=work.leave)


@router.post("/query/estimate", summary="Estimate the cost of a question", response_model=QuestionEstimate)
async def estimate_query(body: QueryBody, runner: QuestionRunnerOf) -> Response:
    """Return the calls, tokens and cost of answering a question, by role, at the prices that are set: at least, and at
    most. Takes the body of `POST /v1/query`; it calls no language model. The turns of a `conversation` are left
    out."""
    return json_response(await runner.estimate(lambda estimator: estimator.estimate(body.asked)))


async def _events(request: Request, work: BackgroundWork) -> AsyncGenerator[bytes, None]:
    try:
        async for event in work.events():
            if isinstance(event, DoneEvent):
                citations = CitationsEvent(claims=event.answer.claims)
                yield format_sse_event(event=citations.kind, data_str=to_json(citations))
            data = event.answer if isinstance(event, DoneEvent) else event
            yield format_sse_event(event=event.kind, data_str=to_json(data))
    except (PaperscopeError, HTTPException) as error:
        yield format_sse_event(event="error", data_str=error_text(request, error))


@router.post(
    "/retrieve",
    summary="Retrieve the context of a question",
    response_model=Context,
    responses={
        200: {
            "description": "The context: entities, relations, sources and images, each with its places on paper.",
            "content": {
                "application/json": {"example": example("context")},
                _CSV: {"example": example("context_csv")},
            },
        }
    },
)
async def retrieve(
    request: Request,
    body: Annotated[RetrieveBody, Body(openapi_examples=_QUESTION_EXAMPLES)],
    runner: QuestionRunnerOf,
) -> Response:
    """Return what an answer would be based on, as JSON or as CSV sections (`Accept: text/csv`), without answering."""
    context = await runner.retrieve(body.question, body.filters, each_paper=body.each_paper)
    format_ = body.format or ("csv" if _CSV in request.headers.get("accept", "") else "json")
    if format_ == "csv":
        return Response(render_context(context), media_type=_CSV)
    return json_response(context)
