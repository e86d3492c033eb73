"""`POST /v1/chat/completions` and `/v1/models`, as OpenAI's clients and chat front ends expect them."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.sse import format_sse_event
from starlette.exceptions import HTTPException

from paperscope.library import Library
from paperscope_core.errors import PaperscopeError
from service.http.answering import QuestionRunnerOf
from service.http.auth import ComputingLibraryOf
from service.http.background import BackgroundWork
from service.http.chat_protocol import (
    ALL_PAPERS,
    ChatBody,
    ChatChunk,
    ChatCompletion,
    Model,
    Models,
    Reply,
    answer_chunks,
    unknown_model,
)
from service.http.problems import OPENAI_ERRORS, error_text
from service.http.responses import EventStreamResponse

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["openai"], responses=OPENAI_ERRORS)


@router.get("/models", summary="List the models in OpenAI's form")
async def models(library: ComputingLibraryOf) -> Models:
    """`paperscope` asks all papers; `paperscope/PAPERID` asks one of them."""
    return Models(data=await asyncio.to_thread(_models, library))


@router.get("/models/{model:path}", summary="A model in OpenAI's form")
async def model(model: Annotated[str, Path(examples=[ALL_PAPERS])], library: ComputingLibraryOf) -> Model:
    """Return one of the models that `/v1/models` lists."""
    found = [one for one in await asyncio.to_thread(_models, library) if one.id == model]
    if not found:
        raise unknown_model(model)
    return found[0]


@router.post(
    "/chat/completions",
    summary="Ask in OpenAI's form",
    response_model=ChatCompletion,
    responses={
        200: {"description": "The completion; with `stream`, its chunks.", "content": {"text/event-stream": {}}}
    },
)
async def chat(request: Request, body: ChatBody, runner: QuestionRunnerOf) -> Response:
    """Answer the last message of the user; the messages before are the history.

    The content is the answer's text with a list of its sources, whose `annotations` lead to the cited places on the web
    page; `paperscope` has the whole answer with its evidence.
    System messages are ignored, as an answer is based on papers, and so are sampling parameters, token limits, and
    tools unless one must be called; that, several choices, JSON formats and images are refused.
    """
    if body.stream:
        work = await runner.begin(body.asked)
        return EventStreamResponse(_chunks(request, body, work), on_end=work.leave)
    answer = await runner.answer(body.asked)
    reply = Reply.of(answer, service=_address(request))
    completion = ChatCompletion.of(answer, reply=reply, model=body.model)
    return Response(completion.model_dump_json(), media_type="application/json")


def _address(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _models(library: Library) -> list[Model]:
    papers = [Model(id=f"{ALL_PAPERS}/{entry.id}", name=entry.title or entry.file) for entry in library.entries()]
    return [Model(id=ALL_PAPERS, name="All papers"), *papers]


async def _chunks(request: Request, body: ChatBody, work: BackgroundWork) -> AsyncGenerator[bytes, None]:
    """Yield the chunks of an answer.

    The text is sent when it is final, in one chunk: a model may restart its text, and these clients can't discard what
    they have received. `POST /v1/query` streams it as it is written.
    """
    chunk = ChatChunk(model=body.model)
    yield _event(chunk.with_delta(role="assistant", content=""))
    try:
        answer = await work.answer()
    except (PaperscopeError, HTTPException) as error:
        yield format_sse_event(data_str=error_text(request, error))
        return
    reply = Reply.of(answer, service=_address(request))
    for one in answer_chunks(chunk, answer, reply=reply, usage=body.includes_usage):
        yield _event(one)
    yield format_sse_event(data_str="[DONE]")


def _event(chunk: ChatChunk) -> bytes:
    return format_sse_event(data_str=chunk.model_dump_json())
