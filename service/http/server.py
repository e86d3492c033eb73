"""uvicorn's server and protocol, with client timeouts, graceful shutdown, and errors as problem documents."""

import asyncio
import logging
import math
import os
import signal
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from types import FrameType
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from paperscope_core.settings import Settings
from service.http.app import MAX_WAITING_QUESTIONS, Shared, create_app
from service.http.auth import Service
from service.http.background import Background
from service.http.middleware import HEAD_TOO_LARGE, MAX_HEAD_BYTES, SECURITY_HEADERS
from service.http.problems import MEDIA_TYPE, Problem
from service.http.shutdown import CLOSING_SECONDS, Shutdown

if TYPE_CHECKING:
    import socket
    from asyncio.trsock import TransportSocket

__all__ = ["Protocol", "Server", "address_of", "build_server"]

_BACKLOG = 2048
_CHECK_SECONDS = 1.0
_FINISH_POLL_SECONDS = 0.1
# For connections that are made while the server ends.
_LAST_ITERATIONS, _LAST_REQUESTS_SECONDS = 100, 0.3
_UNREADABLE = "unreadable", "This is not a readable HTTP/1.1 request."
# Connections beyond the queue of questions, for all other requests.
_EXTRA_CONNECTIONS = 512
# Requests are cancelled by then; their responses only need to be flushed.
_FLUSH_SECONDS = 2

_log = logging.getLogger(__name__)


def build_server(
    settings: Settings,
    *,
    shared: Shared | None = None,
    on_started: Callable[[str], None] = lambda _address: None,
) -> "Server":
    """The server with these settings, not yet listening; see `serving.serve` and `create_app`.

    Raises SettingsError and KeyFileError.
    """
    service = settings.service
    app = create_app(settings, shared=shared)
    config = uvicorn.Config(
        app,
        host=service.host,
        port=service.port,
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        server_header=False,
        forwarded_allow_ips=list(service.proxies),
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        limit_concurrency=_EXTRA_CONNECTIONS + service.questions_at_once + MAX_WAITING_QUESTIONS,
        timeout_graceful_shutdown=_FLUSH_SECONDS,
        # One of several processes accepts one connection at a time, so that others get the next.
        backlog=_BACKLOG if shared is None else 1,
    )
    state: Service = app.state.service
    return Server(
        config,
        shutdown=state.shutdown,
        background=state.background,
        grace_seconds=service.shutdown_seconds,
        finish_seconds=service.question_seconds,
        on_started=on_started,
    )


class Server(uvicorn.Server):
    """uvicorn's server, which still listens while requests finish, and tells new ones that it shuts down.

    If other processes accept connections from its socket, it can also `finish`, so that no request fails.

    Attributes:
        grace_seconds: How long requests may take after a signal.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        shutdown: Shutdown,
        background: Background,
        grace_seconds: float,
        finish_seconds: float,
        on_started: Callable[[str], None],
    ) -> None:
        super().__init__(config)
        self.grace_seconds = grace_seconds
        self._on_started = on_started
        self._shutdown = shutdown
        self._background = background
        self._finish_seconds: float = finish_seconds
        self._finishing = self._signalled = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 # uvicorn's signature
        """Handles a signal: the first one begins the shutdown, the second one kills the process."""
        if self.should_exit:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)
        self.should_exit = self._signalled = True

    def finish(self, *, max_seconds: float = math.inf) -> None:
        """Accepts no more connections, and ends when those that are open have had their responses and work in the
        background has ended; from any thread.

        Args:
            max_seconds: How long requests may take, at most as long as a question.
        """
        self._finish_seconds = min(self._finish_seconds, max_seconds)
        self._finishing = self.should_exit = True

    async def startup(self, sockets: "list[socket.socket] | None" = None) -> None:
        """Starts to listen."""
        await super().startup(sockets)
        for listening in sockets or ():
            # The event loop has set it to the number of connections that it accepts at a time.
            listening.listen(_BACKLOG)
        if self.started:
            self._on_started(address_of(self.servers[0].sockets[0]))

    async def shutdown(self, sockets: "list[socket.socket] | None" = None) -> None:
        """Lets requests and work in the background finish for some time, cancels the others, and stops.

        After a signal the process ends in any case, even if a thread hangs.
        """
        if self._finishing and not self._signalled:
            await self._finish_connections()
        if self._signalled:
            timer = threading.Timer(self.grace_seconds + CLOSING_SECONDS, _force_exit)
            timer.daemon = True
            timer.start()
        self._shutdown.begun.set()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.grace_seconds
        while (tasks := {*self.server_state.tasks, *self._background.tasks}) and (
            remaining := deadline - loop.time()
        ) > 0:
            await asyncio.wait(tasks, timeout=remaining)
        self._shutdown.cancel()
        if self._signalled:
            # Connections that have just been made are told that it ends; uvicorn would reset them.
            self._shutdown.finishing = True
            await self._stop_listening()
            await asyncio.sleep(_LAST_REQUESTS_SECONDS)
        await super().shutdown(sockets)

    async def _stop_listening(self) -> None:
        """Accepts the connections that wait, and closes the listening sockets of this process."""
        loop = asyncio.get_running_loop()
        # One of several processes accepts one connection in an iteration of the event loop.
        for _ in range(_LAST_ITERATIONS):
            await asyncio.sleep(0)
        for listening in (one for server in self.servers for one in server.sockets):
            loop.remove_reader(listening.fileno())
        # What was accepted in the last iteration needs the server in the next ones.
        for _ in range(3):
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()

    async def _finish_connections(self) -> None:
        """Waits until all connections have ended, which `Shutdown.finishing` makes them do, and work in the background.

        Endless streams are ended after the time that requests have after a signal.
        """
        clock = asyncio.get_running_loop().time
        self._shutdown.finishing = True
        await self._stop_listening()
        streams_end, end = clock() + self.grace_seconds, clock() + self._finish_seconds
        while (self.server_state.connections or self._background.tasks) and clock() < end and not self._signalled:
            if clock() >= streams_end:
                self._shutdown.begun.set()
            await asyncio.sleep(_FINISH_POLL_SECONDS)


def address_of(listening: "socket.socket | TransportSocket") -> str:
    """The address of the web page of a server that listens on this socket, whose port the system may have chosen."""
    host, port = listening.getsockname()[:2]
    named = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{named}:{port}/"


def _force_exit() -> None:
    _log.warning("something does not end; the process exits anyway")
    os._exit(1)


class Protocol(H11Protocol):
    """uvicorn's HTTP/1.1 with client timeouts and problem documents.

    A request's head must arrive within `HEAD_SECONDS` after the connection or the last response, its body within
    `BODY_SECONDS` plus a second per `BODY_RATE` bytes after its head, and a client must take a part of the response
    within `WRITE_SECONDS`. Time in which the service keeps the client waiting does not count.

    A request that can't be parsed is refused with a problem document. Requests over the connection limit are passed to
    `AdmissionMiddleware`, marked as `crowded` in the scope's state.
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
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the timer."""
        super().connection_made(transport)
        self._schedule_check()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Counts the received bytes."""
        self._received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Resets the timeouts for the next request."""
        self._waited, self._received = {}, 0
        super().on_response_complete()

    def handle_events(self) -> None:
        """Processes received data; leaves the connection limit to the app."""
        self.limit_concurrency = None
        limit = self.config.limit_concurrency or sys.maxsize
        self.app_state["crowded"] = max(len(self.connections), len(self.tasks)) >= limit
        super().handle_events()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 # uvicorn's signature
        """Refuses an unreadable request and closes the connection."""
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
        """Aborts the connection if the client exceeds the timeout of what the service waits for."""
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
        """What the client has to do: send the head or the body of a request, take the response ("write"), or ""."""
        if self.flow.write_paused:
            return "write"
        if self.conn.their_state is h11.IDLE:
            return "head"
        if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            return "body"
        return ""
