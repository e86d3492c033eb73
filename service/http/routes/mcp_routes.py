"""The library for the models of other programs, by the Model Context Protocol over HTTP.

Each request stands for itself, without a session, so any process of the service can answer it. It passes the same
middleware, queues and time limits as others.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from fastapi import APIRouter, Request, Response
from starlette.types import Message

from paperscope_core.errors import PaperscopeError
from service.http.answering import QuestionRunner, cancel_on_disconnect
from service.http.auth import Service
from service.http.problems import ProblemError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from service.mcp.paper_tools import Access

__all__ = ["router"]

router = APIRouter()


@router.post("/mcp", include_in_schema=False)
async def answer_client(request: Request) -> Response:
    """Answer a message of an MCP client."""
    if find_spec("mcp") is None:
        detail = 'This service has no MCP; install it with pip install "paperscope[mcp]", and start it again.'
        raise ProblemError(501, "no-mcp", detail)
    body = await request.body()
    return await cancel_on_disconnect(request, _answered(request, body))


async def _answered(request: Request, body: bytes) -> Response:
    server = await asyncio.to_thread(_server)
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    received = False
    messages: list[Message] = []

    async def receive() -> Message:
        nonlocal received
        if received:
            # Whether the client disconnects is watched outside.
            await asyncio.Event().wait()
        received = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    # Its tasks are the request's, and end with it.
    async with manager.run():
        await manager.handle_request(request.scope, receive, send)
    start, *parts = messages
    response = Response(b"".join(part.get("body", b"") for part in parts), status_code=start["status"])
    response.raw_headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
    response.headers["Content-Length"] = str(len(response.body))
    return response


@cache
def _server() -> "Server[Any]":
    """Built for the first request: what it imports takes a second."""
    from service.mcp.protocol_server import build_server

    # It would log each request.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    return build_server(_access)


@asynccontextmanager
async def _access(request: Request) -> "AsyncIterator[Access]":
    """Lend the caller's library to a call of a tool. Raises PaperscopeError."""
    from service.mcp.paper_tools import Access

    service, caller = cast("Service", request.app.state.service), request.state.caller
    try:
        async with QuestionRunner(request=request, service=service, caller=caller).lend() as library:
            links = str(request.base_url).rstrip("/")
            yield Access(library=library, links=links, drawing=lambda: service.images.slot(caller.name))
    except ProblemError as error:
        raise PaperscopeError(str(error.detail)) from error
