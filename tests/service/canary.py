"""An address on this machine that nobody may call."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Canary", "canary"]


class Canary:
    """`calls` tells what was asked of `url`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.calls: list[str] = []


@contextmanager
def canary() -> Iterator[Canary]:
    """Listen for calls throughout the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            bird.calls.append(self.path)
            self.send_error(404)

        do_POST = do_HEAD = do_GET  # noqa: N815 # the server's way

        def log_message(self, *_arguments: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    bird = Canary(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield bird
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
