"""Running the app with uvicorn."""

import asyncio
import logging
import os
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from paperscope.errors import SettingsError
from paperscope.settings import Settings
from service.http.access import is_loopback
from service.http.app import create_app
from service.http.bounds import HEAD_BYTES
from service.http.ending import LAST_SECONDS, Ending
from service.http.protocol import TellingProtocol
from service.keys import Keys
from service.logs import configure_logs

if TYPE_CHECKING:
    import socket

__all__ = ["Server", "build_server", "serve"]

_SPARE_CONNECTIONS = 512
_FLUSH_SECONDS = 2
_PROXIES = "127.0.0.1,::1"

_log = logging.getLogger(__name__)


def serve(settings: Settings) -> None:
    """Serve until the process is asked to end (Ctrl-C, SIGTERM), and end it; requests under way then get some time, and
    a second signal ends it at once.

    Raises SettingsError where it would listen beyond this machine without API keys.
    """
    service = settings.service
    if not is_loopback(service.host) and not Keys.open(service.keys).required:
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

    def __init__(self, config: uvicorn.Config, *, ending: Ending, seconds: float) -> None:
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
            certain = threading.Timer(self._seconds + LAST_SECONDS, _end_for_certain)
            certain.daemon = True
            certain.start()
        self._ending.begun.set()
        loop = asyncio.get_running_loop()
        end = loop.time() + self._seconds
        while self.server_state.tasks and (left := end - loop.time()) > 0:
            await asyncio.wait(set(self.server_state.tasks), timeout=left)
        self._ending.cut()
        await super().shutdown(sockets)


def _end_for_certain() -> None:
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
        http=TellingProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        server_header=False,
        forwarded_allow_ips=_PROXIES,
        h11_max_incomplete_event_size=HEAD_BYTES,
        limit_concurrency=_SPARE_CONNECTIONS + service.questions_at_once + service.questions_waiting,
        timeout_graceful_shutdown=_FLUSH_SECONDS,
    )
    return Server(config, ending=app.state.service.ending, seconds=service.shutdown_seconds)
