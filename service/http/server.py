"""uvicorn's configuration and HTTP/1.1, with client timeouts, and errors as problem documents."""

import asyncio
import math
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from paperscope_core.settings import Settings
from service.http.app import MAX_WAITING_QUESTIONS, create_app
from service.http.middleware import HEAD_TOO_LARGE, MAX_HEAD_BYTES, SECURITY_HEADERS
from service.http.problems import MEDIA_TYPE, Problem
from service.http.shutdown import LAST_REQUESTS_SECONDS, Shutdown

__all__ = ["EXTRA_CONNECTIONS", "Protocol", "build_config", "build_server"]

_CHECK_SECONDS = 1.0
_UNREADABLE = "unreadable", "This is not a readable HTTP/1.1 request."
EXTRA_CONNECTIONS = 512
"""Connections beyond the queue of questions, for all other requests."""
# Requests are cancelled by then; their responses only need to be flushed.
_FLUSH_SECONDS = 2
# Long, because a loaded machine may not schedule a process for many seconds.
_HEALTH_SECONDS = 60


def build_server(
    settings: Settings, *, on_started: Callable[[Shutdown], None] = lambda _shutdown: None
) -> uvicorn.Server:
    """Return the server with these settings, not yet listening; see `serving.serve` and `create_app`.

    Raises SettingsError and KeyFileError.
    """
    return uvicorn.Server(build_config(create_app(settings, on_started=on_started), settings))


def build_config(app: FastAPI | Callable[[], FastAPI], settings: Settings, *, processes: int = 1) -> Config:
    """Return the configuration of a server in this process, or of several processes, each of which makes its app."""
    service = settings.service
    grace_seconds = 0 if processes == 1 else math.ceil(service.shutdown_seconds + LAST_REQUESTS_SECONDS)
    return Config(
        app,
        host=service.host,
        port=service.port,
        factory=processes > 1,
        workers=processes,
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        server_header=False,
        # `ForwardedMiddleware` reads the headers of proxies.
        proxy_headers=False,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        limit_concurrency=EXTRA_CONNECTIONS + service.questions_at_once + MAX_WAITING_QUESTIONS,
        timeout_graceful_shutdown=grace_seconds + _FLUSH_SECONDS,
        timeout_worker_healthcheck=_HEALTH_SECONDS,
    )


class Protocol(H11Protocol):
    """uvicorn's HTTP/1.1 with client timeouts and problem documents.

    A request's head must arrive within `HEAD_SECONDS` after the connection or the last response, its body within
    `BODY_SECONDS` plus a second per `BODY_RATE` bytes after its head, and a client must take a part of the response
    within `WRITE_SECONDS`. Time in which the service keeps the client waiting does not count.

    A request that can't be parsed is refused with a problem document. A new connection over the limit closes the oldest
    one that waits for a request; if there is none, its requests are passed to `AdmissionMiddleware`, marked as
    `crowded` in the scope's state.
    """

    HEAD_SECONDS = 15.0
    BODY_SECONDS = 15.0
    BODY_RATE = 1000.0
    WRITE_SECONDS = 60.0

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
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._make_room()
        self._schedule_check()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        if len(self.connections) < self._limit:
            return
        others = (one for one in self.connections if isinstance(one, Protocol) and one is not self)
        idle = [one for one in others if one.is_idle and not one.transport.is_closing()]
        if idle:
            min(idle, key=lambda one: one._since).transport.abort()  # noqa: SLF001 # of this class

    @property
    def is_idle(self) -> bool:
        """Whether the client has sent no whole head of a request yet."""
        return self._waiting_for() == "head"

    @property
    def _limit(self) -> int:
        return self.config.limit_concurrency or sys.maxsize

    def data_received(self, data: bytes) -> None:
        """Count the received bytes."""
        self._received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Reset the timeouts for the next request."""
        self._waited, self._received, self._since = {}, 0, self.loop.time()
        super().on_response_complete()

    def handle_events(self) -> None:
        """Process received data; leave the connection limit to the app."""
        self.limit_concurrency = None
        self.app_state["crowded"] = max(len(self.connections), len(self.tasks)) >= self._limit
        super().handle_events()

    def shutdown(self) -> None:
        """End the connection, but answers a request that the client has just sent."""
        self.loop.call_later(LAST_REQUESTS_SECONDS, self._end)

    def _end(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 # uvicorn's signature
        """Refuse an unreadable request and close the connection."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            # A response has begun, so no other one can be sent.
            self.transport.abort()
            return
        # uvicorn calls this while it handles the parser's error.
        error = sys.exception()
        status = HTTPStatus(getattr(error, "error_status_hint", HTTPStatus.BAD_REQUEST))
        kind, detail = HEAD_TOO_LARGE if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE else _UNREADABLE
        problem = Problem.of(kind, status=status, detail=detail)
        headers = {"Content-Type": MEDIA_TYPE, "Connection": "close", **SECURITY_HEADERS}
        response = h11.Response(status_code=status, headers=list(headers.items()), reason=status.phrase.encode())
        # Its head has been read, and perhaps its route has begun.
        is_request = self.conn.our_state is h11.SEND_RESPONSE
        is_head = is_request and self.scope["method"] == "HEAD"
        body = h11.Data(data=b"" if is_head else problem.text.encode())
        for event in (response, body, h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        if is_request:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _schedule_check(self) -> None:
        self._timer = self.loop.call_later(_CHECK_SECONDS, self._check)

    def _check(self) -> None:
        """Abort the connection if the client exceeds the timeout of what the service waits for."""
        waiting_for = self._waiting_for()
        self._waited = {waiting_for: self._waited.get(waiting_for, 0.0) + _CHECK_SECONDS}
        timeouts = {
            "head": self.HEAD_SECONDS,
            "body": self.BODY_SECONDS + self._received / self.BODY_RATE,
            "write": self.WRITE_SECONDS,
        }
        if self._waited[waiting_for] >= timeouts.get(waiting_for, math.inf):
            self.transport.abort()
        elif not self.transport.is_closing():
            self._schedule_check()

    def _waiting_for(self) -> str:
        """Return what the client has to do: send the head or the body of a request, take the response ("write"), or
        ""."""
        if self.flow.write_paused:
            return "write"
        if self.conn.their_state is h11.IDLE:
            return "head"
        if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            return "body"
        return ""
