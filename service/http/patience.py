"""How long the server waits for a client: one that sends or takes a byte now and then does not hold a connection."""

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

__all__ = ["PatientProtocol"]

_LOOK_SECONDS = 1.0


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, with an end to waiting.

    A request's head must be there `HEAD_SECONDS` after the connection or the last response, its body
    `BODY_SECONDS` and another second for each `BODY_RATE` bytes after its head, and a client that takes nothing of a
    response for `TAKE_SECONDS` is gone. While the service itself lets a client wait, no time counts.
    """

    HEAD_SECONDS = 15.0
    BODY_SECONDS = 15.0
    BODY_RATE = 1000.0
    TAKE_SECONDS = 60.0

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._waited: dict[str, float] = {}
        self._received = 0
        self._looking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look at the clock."""
        super().connection_made(transport)
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        """End it."""
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes."""
        self._received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Wait anew, for the next request."""
        self._waited, self._received = {}, 0
        super().on_response_complete()

    def _look_later(self) -> None:
        self._looking = self.loop.call_later(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        waiting = self._waiting_for()
        self._waited = {waiting: self._waited.get(waiting, 0.0) + _LOOK_SECONDS}
        allowed: dict[str, Callable[[], float]] = {
            "head": lambda: self.HEAD_SECONDS,
            "body": lambda: self.BODY_SECONDS + self._received / self.BODY_RATE,
            "taking": lambda: self.TAKE_SECONDS,
        }
        if waiting in allowed and self._waited[waiting] >= allowed[waiting]():
            self.transport.abort()
        elif not self.transport.is_closing():
            self._look_later()

    def _waiting_for(self) -> str:
        """What the client owes: the head of a request, its body, taking the response; "" where it owes nothing."""
        if self.flow.write_paused:
            return "taking"
        if self.conn.their_state is h11.IDLE:
            return "head"
        if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            return "body"
        return ""
