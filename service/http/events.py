"""Server-sent events, kept alive while nothing happens and stopped when nobody listens any more."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT
from starlette.types import Receive, Scope, Send

__all__ = ["EventStream"]


class EventStream(StreamingResponse):
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
