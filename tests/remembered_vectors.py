"""The local embedder for tests: it computes the vector of a text once, for all processes and later runs.

A process that a test starts asks the process of the test (`tests/children`), because torch loads for seconds.
"""

import hashlib
import inspect
import json
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.models.embedders import LocalEmbedder
from paperscope_core.models.weights import Weights

__all__ = ["ADDRESS", "RememberedEmbedder", "ServedEmbedder", "serve_vectors"]

ADDRESS = "TESTS_VECTORS"
"""The variable of the environment with the Unix socket that vectors are asked from."""


class RememberedEmbedder(LocalEmbedder):
    """Embeds like `LocalEmbedder`, whose weights it loads only for a text without a file in the folder."""

    def __init__(self, weights: Weights, *, folder: Path) -> None:
        super().__init__(weights)
        self._folder = folder
        # A change of the embedder computes its vectors anew.
        module = Path(inspect.getfile(LocalEmbedder))
        modules = (module, module.with_name("minilm.py"), module.with_name("bert.py"))
        self._key = "\n".join((self.name, *(one.read_text() for one in modules)))

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return len(self._embed(["text"])[0])

    def _embed(self, texts: list[str]) -> NDArray[float32]:
        files = [self._folder / hashlib.sha256(f"{self._key}\n{text}".encode()).hexdigest() for text in texts]
        new = {file: text for file, text in zip(files, texts, strict=True) if not file.exists()}
        if new:
            for file, vector in zip(new, super()._embed(list(new.values())), strict=True):
                unfinished = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
                unfinished.write_bytes(vector.tobytes())
                unfinished.rename(file)
        if not files:
            return np.empty((0, self.dimension), dtype=float32)
        return np.stack([np.frombuffer(file.read_bytes(), dtype=float32) for file in files])


class ServedEmbedder(LocalEmbedder):
    """Asks `serve_vectors` for the vectors of the bundled weights."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return len(self._embed(["text"])[0])

    def _embed(self, texts: list[str]) -> NDArray[float32]:
        if not self._weights.bundled or ADDRESS not in os.environ:
            return super()._embed(texts)
        if not texts:
            return np.empty((0, self.dimension), dtype=float32)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.environ[ADDRESS])
            with connection.makefile("rwb") as stream:
                stream.write(json.dumps(texts).encode() + b"\n")
                stream.flush()
                return np.frombuffer(stream.read(), dtype=float32).reshape(len(texts), -1)


@contextmanager
def serve_vectors(embedder: RememberedEmbedder) -> Iterator[str]:
    """Serve the vectors of an embedder; yields the address."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(embedder._embed(json.loads(self.rfile.readline())).tobytes())

    # The path of a socket must be short.
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/vectors"
        with ThreadingUnixStreamServer(address, Handler) as server:
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            yield address
            server.shutdown()
            thread.join()
