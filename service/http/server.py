"""uvicorn's server and protocol, with time limits, graceful shutdown and problem documents."""

import asyncio
import logging
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

from paperscope_core.errors import SettingsError
from paperscope_core.settings import Settings
from service.http.app import create_app
from service.http.auth import is_loopback
from service.http.middleware import HEAD_TOO_LARGE, MAX_HEAD_BYTES
from service.http.problems import MEDIA_TYPE, Problem
from service.http.shutdown import CLOSING_SECONDS, Shutdown
from service.keys import KeyStore
from service.logs import configure_logs

if TYPE_CHECKING:
    import socket


__all__ = ["ProblemProtocol", "Server", "TimeoutProtocol", "build_server", "serve"]


_CHECK_SECONDS = 1.0


class TimeoutProtocol(H11Protocol):
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
        self._looking = self.loop.call_later(_CHECK_SECONDS, self._look)

    def _look(self) -> None:
        waiting = self._waiting_for()
        self._waited = {waiting: self._waited.get(waiting, 0.0) + _CHECK_SECONDS}
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


_UNREADABLE = "unreadable", "This is no HTTP/1.1 request that can be read."


class ProblemProtocol(TimeoutProtocol):
    """Tells of a request that can't be read by a problem document, and leaves it to the app (`Bounds`) to refuse one
    where more are connected than it takes on: its scope's state has `crowded` then."""

    def handle_events(self) -> None:
        """Serve what has come."""
        self.limit_concurrency = None
        most = self.config.limit_concurrency or sys.maxsize
        self.app_state["crowded"] = max(len(self.connections), len(self.tasks)) >= most
        super().handle_events()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 # uvicorn's signature
        """Refuse what can't be read, and end the connection; where a response has begun, nothing can be told."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        # uvicorn calls this where it has caught it.
        error = sys.exception()
        status = HTTPStatus(getattr(error, "error_status_hint", HTTPStatus.BAD_REQUEST))
        kind, detail = HEAD_TOO_LARGE if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE else _UNREADABLE
        problem = Problem.of(kind, status=status, detail=detail)
        headers = {"Content-Type": MEDIA_TYPE, "Connection": "close", "X-Content-Type-Options": "nosniff"}
        response = h11.Response(status_code=status, headers=list(headers.items()), reason=status.phrase.encode())
        for event in (response, h11.Data(data=problem.text.encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


_EXTRA_CONNECTIONS = 512
_FLUSH_SECONDS = 2
_PROXIES = "127.0.0.1,::1"

_log = logging.getLogger(__name__)


def serve(settings: Settings) -> None:
    """Serve until the process is asked to end (Ctrl-C, SIGTERM), and end it; requests under way then get some time, and
    a second signal ends it at once.

    Raises SettingsError where it would listen beyond this machine without API keys.
    """
    service = settings.service
    if not is_loopback(service.host) and not KeyStore.open(service.keys).required:
        raise SettingsError(
            f"service.host {service.host!r} lets others on the network in, and there is no API key yet: make one with "
            f"`paperscope keys create NAME --library FOLDER` (key file: {service.keys}), or listen on 127.0.0.1"
        )
    server = build_server(settings)
    configure_logs(service.log)
    server.run()
    logging.shutdown()
    # All is closed. To take down what a library holds in memory would take seconds more, and a busy machine many.
    os._exit(0 if server.started else 1)


class Server(uvicorn.Server):
    """uvicorn's server, with a gentler end: while requests are under way it still listens, and tells that it ends."""

    def __init__(self, config: uvicorn.Config, *, ending: Shutdown, seconds: float) -> None:
        super().__init__(config)
        self._ending = ending
        self._seconds = seconds
        self._signalled = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 # uvicorn's signature
        """Take a signal: end, or the second time, die of it."""
        if self.should_exit:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)
        self.should_exit = self._signalled = True

    async def shutdown(self, sockets: "list[socket.socket] | None" = None) -> None:
        """Give requests under way their time, cut off what is left, and stop. A process that was asked to end by a
        signal does, whatever goes on in it."""
        if self._signalled:
            certain = threading.Timer(self._seconds + CLOSING_SECONDS, _force_exit)
            certain.daemon = True
            certain.start()
        self._ending.begun.set()
        loop = asyncio.get_running_loop()
        end = loop.time() + self._seconds
        while self.server_state.tasks and (left := end - loop.time()) > 0:
            await asyncio.wait(set(self.server_state.tasks), timeout=left)
        self._ending.cut()
        await super().shutdown(sockets)


def _force_exit() -> None:
    _log.warning("something does not end; the process is ended all the same")
    os._exit(1)


def build_server(settings: Settings) -> Server:
    """The server with these settings, which is not yet listening. Raises SettingsError and KeyFileError."""
    service = settings.service
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=service.host,
        port=service.port,
        http=ProblemProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        server_header=False,
        forwarded_allow_ips=_PROXIES,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        limit_concurrency=_EXTRA_CONNECTIONS + service.questions_at_once + service.questions_waiting,
        timeout_graceful_shutdown=_FLUSH_SECONDS,
    )
    return Server(config, ending=app.state.service.ending, seconds=service.shutdown_seconds)
