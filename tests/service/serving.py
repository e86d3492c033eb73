"""The HTTP service on a free port of this machine, for tests."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter, FastAPI

from paperscope.settings import Settings
from service.http.server import build_server

__all__ = ["serving"]

_SECONDS = 30


@contextmanager
def serving(settings: Settings, *, routes: APIRouter | None = None) -> Iterator[str]:
    """Serve with these settings, whatever their port; gives the address, such as http://127.0.0.1:40123.

    `routes` are a test's own, beside the service's.
    """
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = build_server(settings)
    app = server.config.app
    assert isinstance(app, FastAPI)
    if routes is not None:
        app.include_router(routes)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        end = time.monotonic() + _SECONDS
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            assert time.monotonic() < end, "the service did not start in time"
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_SECONDS)
        assert not thread.is_alive(), "the service did not end"
