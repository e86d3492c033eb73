"""Responses: JSON, files, images, HTML pages, server-sent events, and their descriptions in the OpenAPI document."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Response
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT
from markupsafe import Markup
from starlette.types import Receive, Scope, Send

from paperscope_core.codec import to_json
from paperscope_core.text.escaping import html

__all__ = [
    "EventStreamResponse",
    "attachment_headers",
    "document_content",
    "document_example",
    "etag_matches",
    "example",
    "file_response",
    "html_page",
    "html_response",
    "image_response",
    "json_response",
]

_EXAMPLES = Path(__file__).with_name("examples.json")
# Browsers accept the rest of the policy in a header only.
_FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_PAGE_POLICY = f"{_FILE_POLICY}; frame-ancestors 'none'; sandbox"


def json_response(value: object) -> Response:
    """Return a value as JSON, serialized once: the routes' response models only document it."""
    return Response(to_json(value), media_type="application/json")


def file_response(text: bytes | str, *, name: str, media_type: str) -> Response:
    """Return a file that a browser saves under this name and never shows as a page."""
    return Response(text, media_type=media_type, headers=attachment_headers(name))


def attachment_headers(name: str) -> dict[str, str]:
    """Return the headers of a file to save; its name may come from a caller or a paper."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
    return {"Content-Disposition": disposition}


def html_page(title: str, fragment: Markup) -> Markup:
    """Return a page around a fragment, which may neither run scripts nor load anything, even as a file; `title` is
    text."""
    return html(
        '<!doctype html>\n<html><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        '<meta http-equiv="Content-Security-Policy" content="{}"><title>{}</title></head><body>{}</body></html>\n',
        _FILE_POLICY,
        title,
        fragment,
    )


def html_response(title: str, fragment: Markup) -> Response:
    """Show `html_page`."""
    return Response(
        html_page(title, fragment), media_type="text/html", headers={"Content-Security-Policy": _PAGE_POLICY}
    )


def image_response(image: bytes | None, *, etag: str, immutable: bool) -> Response:
    """Return a PNG with its ETag; without an image "304 Not Modified". What is not `immutable` is revalidated each
    time."""
    caching = "private, max-age=31536000, immutable" if immutable else "private, no-cache"
    headers = {"ETag": f'"{etag}"', "Cache-Control": caching}
    if image is None:
        return Response(status_code=304, headers=headers)
    return Response(image, media_type="image/png", headers=headers)


def etag_matches(etag: str, *, if_none_match: str) -> bool:
    """Return whether the header If-None-Match says that the client has the content with this ETag."""
    return if_none_match.strip() == "*" or etag in re.findall(r'"([^"]*)"', if_none_match)


class EventStreamResponse(StreamingResponse):
    """Server-sent events, with a comment when there has been none for a while.

    Args:
        events: Events in their wire format (`fastapi.sse.format_sse_event`).
        on_end: Called when the last event is sent, or the client has disconnected.
    """

    KEEP_ALIVE_SECONDS = 15.0

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None], *, on_end: Callable[[], object] = lambda: None) -> None:
        self._on_end = on_end
        self._events = _kept_alive(events, interval=self.KEEP_ALIVE_SECONDS)
        # nginx must not buffer events.
        super().__init__(self._events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        try:
            async with aclosing(self._events):
                await super().__call__(scope, receive, send)
        finally:
            self._on_end()


async def _kept_alive(events: AsyncGenerator[bytes, None], *, interval: float) -> AsyncGenerator[bytes, None]:
    async with aclosing(events):
        while True:
            # A separate task, so that a comment doesn't cancel what is awaited.
            upcoming = asyncio.ensure_future(anext(events, None))
            try:
                while not (await asyncio.wait({upcoming}, timeout=interval))[0]:
                    yield KEEPALIVE_COMMENT
            finally:
                if upcoming.cancel():
                    await asyncio.wait({upcoming})
            event = upcoming.result()
            if event is None:
                return
            yield event


@cache
def _examples() -> dict[str, Any]:
    return dict(json.loads(_EXAMPLES.read_text(encoding="utf-8")))


def example(name: str) -> Any:  # noqa: ANN401 # JSON
    """Return an example for the OpenAPI document: what the service returns for the paper in `examples/`, with lists
    cut."""
    return _examples()[name]


def document_content(*media_types: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a response of one of these media types."""
    return {200: {"content": {media_type: {"schema": {"type": "string"}} for media_type in media_types}}}


def document_example(name: str, *, alternative: str = "") -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a JSON response: an example, and an alternative media type."""
    other = document_content(alternative)[200]["content"] if alternative else {}
    return {200: {"content": {"application/json": {"example": example(name)}, **other}}}
