"""A Unix socket by which the processes that a test starts ask the process of the test, whose models are loaded.

A question is a line of bytes, and the answer is all that follows.
"""

import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer

__all__ = ["ask", "serve"]


def ask(address: str, question: bytes) -> bytes:
    """The answer to a question, which has no line break."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        with connection.makefile("rwb") as stream:
            stream.write(question + b"\n")
            stream.flush()
            return stream.read()


@contextmanager
def serve(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """Answer questions within the block, in a thread each; yields the address."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(answer(self.rfile.readline().removesuffix(b"\n")))

    # The path of a socket must be short.
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/models"
        with ThreadingUnixStreamServer(address, Handler) as server:
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            yield address
            server.shutdown()
            thread.join()
