"""The local embedder for tests: it computes the vector of a text once, for all processes and later runs."""

import hashlib
import inspect
import os
import threading
from pathlib import Path

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.models.embedders import LocalEmbedder
from paperscope_core.models.weights import Weights

__all__ = ["RememberedEmbedder"]


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
