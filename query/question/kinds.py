"""The kinds of messages: questions on papers, questions on the library as a list of papers, and small talk."""

import re
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from paperscope_core.protocols import Embedder

__all__ = ["KINDS", "WORD_WEIGHT", "KindModel", "MessageKind", "features", "kind_model", "kind_of"]

MessageKind = Literal["papers", "library", "talk"]
KINDS: tuple[MessageKind, ...] = ("papers", "library", "talk")

# The probability from which a message is small talk or on the library; of 0.7, 0.75 and 0.8 the one with the fewest
# errors on questions on papers. `scripts/bench messages`: 35 of 40 held-out messages on the library and 37 of 40 of
# small talk are found; 1 of 60 similar questions on papers is taken for one on the library. Of messages by non-native
# writers, 17 of 19 on the library, 13 of 15 of small talk and all 22 on papers are told. Of 470 questions of QASPER,
# ArgSciChat, MMLongBench and OHR-Bench, seven are taken for small talk, which they are ("Hi!").
_LEAST = 0.8
WORD_WEIGHT = 0.3
"""The value of the feature of a word, beside the components of a unit vector."""
_TOKEN = re.compile(r"[^\W_]+|[?!]")
_FILE = "kinds.json"


class KindModel(BaseModel):
    """A linear model over a message's vector and its words, fitted by `scripts/bench messages --write`.

    The vector alone does not tell "Who wrote it?" from "Who wrote them?".

    Each row of weights has one number for each of `KINDS`.

    Attributes:
        embedder: The embedder of the vectors.
        vector: The weights of the vector's components.
        words: The weights of words and pairs of adjacent words.
        bias: What is added.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedder: str
    vector: list[list[float]]
    words: dict[str, list[float]]
    bias: list[float]

    def kind(self, text: str, vector: NDArray[float32]) -> MessageKind:
        """The kind of a message with this vector; "papers" if in doubt."""
        known = [self.words[feature] for feature in features(text) if feature in self.words]
        scores = np.asarray(vector, dtype=float) @ np.asarray(self.vector) + self.bias
        scores += WORD_WEIGHT * np.sum(known, axis=0) if known else 0
        weights = np.exp(scores - scores.max())
        probabilities = weights / weights.sum()
        best = int(probabilities.argmax())
        return KINDS[best] if probabilities[best] >= _LEAST else "papers"


def features(text: str) -> frozenset[str]:
    """The words of a message and its pairs of adjacent words, with "^" and "$" for its begin and end."""
    tokens = _TOKEN.findall(text.casefold())
    pairs = zip(["^", *tokens], [*tokens, "$"], strict=True)
    return frozenset((*tokens, *map(" ".join, pairs)))


@cache
def kind_model() -> KindModel:
    """The fitted model."""
    return KindModel.model_validate_json(files(__package__).joinpath(_FILE).read_bytes())


async def kind_of(message: str, embedder: Embedder) -> MessageKind:
    """The kind of a message; "papers" if in doubt, or if it was not fitted for this embedder.

    Raises:
        ModelError: The embedder failed.
    """
    model = kind_model()
    if embedder.name != model.embedder:
        return "papers"
    return model.kind(message, (await embedder.embed([message]))[0])
