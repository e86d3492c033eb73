"""The HTTP service on a free port of this machine, for tests."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from paperscope.settings import Settings
from service.http import create_app

__all__ = ["serving"]

_SECONDS = 30


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """Serve with these settings, whatever their port; gives the address, such as http://127.0.0.1:40123."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(settings), log_config=None, lifespan="on", timeout_graceful_shutdown=5)
    started = threading.Event()

    class Told(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started.set()

    server = Told(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        assert started.wait(_SECONDS), "the service did not start"
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_SECONDS)
        assert not thread.is_alive(), "the service did not end"
