"""Vectors of single words, without context: the input embeddings of the bundled model."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.models.weights import find_weights

__all__ = ["WordVectors", "bundled_vectors"]

_TENSOR = "embeddings.word_embeddings.weight"
# The vocabulary is ordered by frequency, after 995 entries for signs and single characters.
_FIRST_WORD = 995


class WordVectors:
    """The pieces of words and their vectors. Rows are read when they are needed: the whole table takes 47 MB."""

    def __init__(self, folder: Path) -> None:
        from safetensors import safe_open
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        weights: Any = safe_open(folder / "model.safetensors", framework="numpy")  # Its methods have no types.
        self._rows = weights.get_slice(_TENSOR)
        self._known: dict[int, NDArray[float32]] = {}

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self._rows.get_shape()[1])

    def pieces(self, word: str) -> list[int]:
        """The positions in the vocabulary of the pieces that a word is divided into."""
        return list(self._tokenizer.encode(word, add_special_tokens=False).ids)

    def vector(self, pieces: list[int]) -> NDArray[float32]:
        """The mean of the pieces' vectors."""
        for piece in pieces:
            if piece not in self._known:
                self._known[piece] = np.asarray(self._rows[piece], dtype=float32)
        rows = np.array([self._known[piece] for piece in pieces])
        return np.asarray(rows.mean(axis=0), dtype=float32)

    @staticmethod
    def rarity(pieces: list[int]) -> float:
        """The logarithm of the mean rank of the pieces by frequency: about 0 for "the", 10 for the rarest."""
        return float(np.log(np.mean([max(piece - _FIRST_WORD, 1) for piece in pieces])))


@cache
def bundled_vectors() -> WordVectors:
    """Returns the vectors of the weights that Paperscope is installed with. Raises ModelError if they are missing."""
    return WordVectors(Path(find_weights("").location))
