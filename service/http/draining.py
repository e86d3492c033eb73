"""A response to a body that nobody has read yet.

A server that answers and closes while a client still sends resets the connection, and the client may never see the
answer. So what is left of a body is read, up to a bound, before the response ends; then the connection can go on.
"""

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Draining"]

_MOST_BYTES = 4_000_000
_MOST_SECONDS = 2.0


class Draining:
    """Middleware that takes what is left of a request's body before it lets its response end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(receive)

        async def send_on(message: Message) -> None:
            if message["type"] != "http.response.body" or message.get("more_body") or body.ended:
                await send(message)
                return
            await send({**message, "more_body": True})
            await body.drain()
            await send({"type": "http.response.body", "body": b""})

        await self._app(scope, body.receive, send_on)


class _Body:
    """A request's body, and whether all of it has come."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = False

    async def receive(self) -> Message:
        """The next part of it."""
        message = await self._receive()
        self.ended = self.ended or message["type"] == "http.disconnect" or not message.get("more_body")
        return message

    async def drain(self) -> None:
        """Read the rest, up to the bound."""
        taken = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(_MOST_SECONDS):
                while not self.ended and taken < _MOST_BYTES:
                    taken += len((await self.receive()).get("body", b""))
