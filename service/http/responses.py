"""Responses: JSON, files, pictures, pages, and server-sent events."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from html import escape
from typing import Any
from urllib.parse import quote

from fastapi import Response
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT
from starlette.types import Receive, Scope, Send

from paperscope_core.codec import to_json

__all__ = [
    "EventStreamResponse",
    "attachment_headers",
    "document_content",
    "document_example",
    "etag_matches",
    "file_response",
    "html_response",
    "image_response",
    "json_response",
    "not_modified",
]


_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)


def json_response(value: object) -> Response:
    """A value, written once: the routes' response models only document it."""
    return Response(to_json(value), media_type="application/json")


def file_response(text: bytes | str, *, name: str, media_type: str) -> Response:
    """A file that a browser saves under this name, and never shows as a page."""
    return Response(text, media_type=media_type, headers=attachment_headers(name))


def attachment_headers(name: str) -> dict[str, str]:
    """The headers of a file that a browser saves under this name, which may be a stranger's, and never shows."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
    return {"Content-Disposition": disposition}


def html_response(title: str, fragment: str) -> Response:
    """A page of one fragment of HTML, under a title that is text; it runs nothing, and fetches nothing."""
    head = f'<meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>{escape(title)}</title>'
    page = f"<!doctype html>\n<html><head>{head}</head><body>{fragment}</body></html>\n"
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": _PAGE_POLICY})


def image_response(picture: bytes, *, tag: str, lasting: bool) -> Response:
    """A PNG with its tag; a `lasting` one never changes under its address, another is asked for again each time."""
    return Response(picture, media_type="image/png", headers=_cache_headers(tag, lasting=lasting))


def not_modified(tag: str, *, lasting: bool) -> Response:
    """What says that the caller has this picture already."""
    return Response(status_code=304, headers=_cache_headers(tag, lasting=lasting))


def etag_matches(tag: str, *, known: str) -> bool:
    """Whether If-None-Match says that the caller has what this tag names."""
    return known.strip() == "*" or tag in re.findall(r'"([^"]*)"', known)


def _cache_headers(tag: str, *, lasting: bool) -> dict[str, str]:
    keeping = "private, max-age=31536000, immutable" if lasting else "private, no-cache"
    return {"ETag": f'"{tag}"', "Cache-Control": keeping}


def document_content(*media_types: str) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of a response that comes as one of these media types."""
    return {200: {"content": {kind: {"schema": {"type": "string"}} for kind in media_types}}}


def document_example(example: Mapping[str, object], *, or_as: str = "") -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of a JSON response: an example, and the media type that may come instead."""
    other = document_content(or_as)[200]["content"] if or_as else {}
    return {200: {"content": {"application/json": {"example": example}, **other}}}


class EventStreamResponse(StreamingResponse):
    """Sends events in their wire format (`fastapi.sse.format_sse_event`), and a comment where none comes for a while.

    A client that hangs up closes the generator, in whatever it is waiting for.
    """

    KEEP_ALIVE_SECONDS = 15.0

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        self._events = _kept_alive(events, seconds=self.KEEP_ALIVE_SECONDS)
        # A proxy (nginx) must not hold events back.
        super().__init__(self._events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all events, or as many as the client takes."""
        async with aclosing(self._events):
            await super().__call__(scope, receive, send)


async def _kept_alive(events: AsyncGenerator[bytes, None], *, seconds: float) -> AsyncGenerator[bytes, None]:
    async with aclosing(events):
        while True:
            # A task of its own, so that a comment in between doesn't cancel what is awaited.
            coming = asyncio.ensure_future(anext(events, None))
            try:
                while not (await asyncio.wait({coming}, timeout=seconds))[0]:
                    yield KEEPALIVE_COMMENT
            finally:
                if coming.cancel():
                    await asyncio.wait({coming})
            event = coming.result()
            if event is None:
                return
            yield event
