"""The local embedder for tests: it computes the vector of a text once, for all processes and later runs.

A process that a test starts asks the process of the test (`tests/children`), because torch loads for seconds.
"""

import hashlib
import inspect
import json
import os
import threading
from pathlib import Path

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.models.embedders import LocalEmbedder
from paperscope_core.models.weights import Weights
from tests.model_socket import ask

__all__ = ["ADDRESS", "RememberedEmbedder", "ServedEmbedder"]

ADDRESS = "TESTS_VECTORS"
"""The variable of the environment with the Unix socket that vectors are asked from."""


class RememberedEmbedder(LocalEmbedder):
    """Embeds like `LocalEmbedder`, whose weights it loads only for a text without a file in the folder."""

    def __init__(self, weights: Weights, *, folder: Path) -> None:
        super().__init__(weights)
        self._folder = folder
        # A change of the embedder computes its vectors anew.
        module = Path(inspect.getfile(LocalEmbedder))
        modules = (module, module.with_name("onnx_bert.py"))
        self._key = "\n".join((self.name, *(one.read_text() for one in modules)))

    def _embed(self, texts: list[str]) -> NDArray[float32]:
        files = [self._folder / hashlib.sha256(f"{self._key}\n{text}".encode()).hexdigest() for text in texts]
        new = {file: text for file, text in zip(files, texts, strict=True) if not file.exists()}
        if new:
            for file, vector in zip(new, super()._embed(list(new.values())), strict=True):
                unfinished = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
                unfinished.write_bytes(vector.tobytes())
                unfinished.rename(file)
        if not files:
            return np.empty((0, 0), dtype=float32)
        return np.stack([np.frombuffer(file.read_bytes(), dtype=float32) for file in files])

    def embed_json(self, texts: bytes) -> bytes:
        """The vectors of texts that are a JSON array, one after the other."""
        return self._embed(json.loads(texts)).tobytes()


class ServedEmbedder(LocalEmbedder):
    """Asks the process of the test for the vectors of the bundled weights."""

    def _embed(self, texts: list[str]) -> NDArray[float32]:
        if not self._weights.bundled or ADDRESS not in os.environ:
            return super()._embed(texts)
        if not texts:
            return np.empty((0, 0), dtype=float32)
        answer = ask(os.environ[ADDRESS], json.dumps(texts).encode())
        return np.frombuffer(answer, dtype=float32).reshape(len(texts), -1)
