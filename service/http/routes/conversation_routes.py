"""Conversations that the library stores: begin, list, read, rename and delete them."""

import asyncio
from collections.abc import Set
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from paperscope_core.types import Answer
from service.http.auth import CallerOf, ComputingLibraryOf, LibraryOf, ServiceOf
from service.http.parameters import CONVERSATION_PATTERN
from service.http.pictures import with_pictures
from service.http.responses import document_example, json_response
from service.http.routes.export_routes import EXPORTED, ExportFormat, export_response

__all__ = ["router"]

router = APIRouter(prefix="/v1/conversations", tags=["conversations"])

_MAX_TITLE_LENGTH = 200
_ConversationId = Annotated[str, Path(pattern=CONVERSATION_PATTERN, description="A conversation's id.")]
_Title = Annotated[str, Field(max_length=_MAX_TITLE_LENGTH)]


class NewConversation(BaseModel):
    """A conversation to begin."""

    model_config = ConfigDict(extra="forbid")

    title: _Title = Field(default="", description="its title; by default its first question")


class NewTitle(BaseModel):
    """Another title of a conversation."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[_Title, Field(min_length=1, pattern=r"\S")]


class ConversationHeadView(BaseModel):
    """A conversation in short: `updated` is the time of its last answer, `questions` their number."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    title: str
    created: datetime
    updated: datetime
    questions: int


class ConversationList(BaseModel):
    """A page of the library's conversations, the one with the latest answer first; `total` counts all of them."""

    conversations: tuple[ConversationHeadView, ...]
    total: int
    limit: int
    offset: int


class ConversationView(ConversationHeadView):
    """A conversation with its whole answers, the oldest first. `missing_papers` are the ids of papers that they cite
    and that the library no longer has: the quotes are still there, but not the pages."""

    turns: tuple[Answer, ...]
    missing_papers: Set[str]


@router.get("", summary="List the conversations", responses=document_example("conversations"))
def list_conversations(
    library: LibraryOf,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 100,
    offset: Annotated[int, Query(ge=0, le=10**9, description="Skip so many.")] = 0,
) -> ConversationList:
    """Return the library's conversations, without their answers. All callers of the library share them."""
    conversations = library.conversations
    heads = tuple(map(ConversationHeadView.model_validate, conversations.all(limit=limit, offset=offset)))
    return ConversationList(conversations=heads, total=conversations.count(), limit=limit, offset=offset)


@router.post("", summary="Begin a conversation", status_code=201)
def begin_conversation(body: NewConversation, library: LibraryOf, response: Response) -> ConversationHeadView:
    """Store an empty conversation. `POST /v1/query` with its id asks in it, and stores each answer."""
    head = library.conversations.create(body.title)
    response.headers["Location"] = f"{router.prefix}/{head.id}"
    return ConversationHeadView.model_validate(head)


@router.get("/{conversation}", summary="Show a conversation", response_model=ConversationView, responses=EXPORTED)
def show_conversation(
    conversation: _ConversationId,
    library: ComputingLibraryOf,
    form: Annotated[
        Literal["json"] | ExportFormat, Query(alias="format", description="As `POST /v1/export` writes answers.")
    ] = "json",
) -> Response:
    """Return a conversation with its whole answers: claims, evidence with every box, context, readings, checks,
    findings."""
    found = library.conversations.get(conversation)
    if form != "json":
        return export_response(found.turns, form, title=found.head.title, library=library)
    known = {entry.id for entry in library.entries()}
    view = ConversationView(
        **ConversationHeadView.model_validate(found.head).model_dump(),
        turns=tuple(map(with_pictures, found.turns)),
        missing_papers=found.papers - known,
    )
    return json_response(view)


@router.patch("/{conversation}", summary="Rename a conversation")
def rename_conversation(conversation: _ConversationId, body: NewTitle, library: LibraryOf) -> ConversationHeadView:
    """Change its title."""
    return ConversationHeadView.model_validate(library.conversations.rename(conversation, body.title))


@router.delete("/{conversation}", summary="Delete a conversation", status_code=204)
async def delete_conversation(
    conversation: _ConversationId, library: LibraryOf, service: ServiceOf, caller: CallerOf
) -> Response:
    """Delete a conversation with its answers, and stop the questions that are being answered in it."""
    await asyncio.to_thread(library.conversations.head, conversation)
    await service.background.cancel(caller.conversation(conversation))
    await asyncio.to_thread(library.conversations.delete, conversation)
    return Response(status_code=204)


@router.post("/{conversation}/cancel", summary="Stop the questions of a conversation", status_code=204)
async def stop_questions(
    conversation: _ConversationId, library: LibraryOf, service: ServiceOf, caller: CallerOf
) -> Response:
    """Stop the questions that are being answered in a conversation: they cost no further model call, and no answer is
    stored. To only disconnect does not stop them."""
    await asyncio.to_thread(library.conversations.head, conversation)
    await service.background.cancel(caller.conversation(conversation))
    return Response(status_code=204)
