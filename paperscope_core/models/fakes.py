"""Deterministic models, embedders and rerankers for tests and experiments."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import ModelError, ModelRefusedError
from paperscope_core.text.words import plain_words
from paperscope_core.types import ModelReply, ModelRequest, Usage

__all__ = ["FakeEmbedder", "FakeModel", "FakeReranker"]

_STREAMED_LETTERS = 7
_QUOTED_LETTERS = 300


class FakeModel:
    """A language and vision model that replies from a function or a script.

    Each word counts as a token. `requests` are the requests so far.

    Args:
        replies: A function, or a script of replies; an error in the script is raised.
    """

    def __init__(
        self, replies: Callable[[ModelRequest], str] | Iterable[str | ModelError], *, name: str = "fake"
    ) -> None:
        self.name = name
        self._reply = replies if callable(replies) else _scripted(replies)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Return the function's value, or the script's next reply.

        Raises:
            ModelRefusedError: The script is exhausted.
        """
        self.requests.append(request)
        text = self._reply(request)
        prompt = sum(len(message.text.split()) for message in request.messages)
        return ModelReply(text=text, usage=Usage(calls=1, prompt_tokens=prompt, completion_tokens=len(text.split())))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Return the same reply as `complete`, streamed in pieces of seven characters."""
        reply = await self.complete(request)
        for end in range(_STREAMED_LETTERS, len(reply.text) + _STREAMED_LETTERS, _STREAMED_LETTERS):
            on_text(reply.text[:end])
            await asyncio.sleep(0)
        return reply

    def redacted(self, text: str) -> str:
        """Return the start of a text. See `LanguageModel.redacted`; there are no secrets."""
        return text[:_QUOTED_LETTERS]


def _scripted(replies: Iterable[str | ModelError]) -> Callable[[ModelRequest], str]:
    remaining = iter(replies)

    def reply(request: ModelRequest) -> str:
        following = next(remaining, None)
        if following is None:
            raise ModelRefusedError(f"the fake's script is exhausted, but it was asked {request.messages[-1].text!r}")
        if isinstance(following, ModelError):
            raise following
        return following

    return reply


@lru_cache(maxsize=1 << 16)
def _number(word: str) -> int:
    """Return a number that depends on the word alone, and is the same in every process."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])


class FakeEmbedder:
    """Embeds a text as a bag of hashed words, so that texts with common words are similar."""

    def __init__(self, *, dimension: int = 64) -> None:
        self.name = f"fake-{dimension}"
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts. See `Embedder.embed`; all texts without words have the same vector."""
        rows = np.zeros((len(texts), self.dimension), dtype=float32)
        for row, text in enumerate(texts):
            columns = [_number(word) % self.dimension for word in plain_words(text) or [""]]
            rows[row] = np.bincount(columns, minlength=self.dimension)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=float32)


class FakeReranker:
    """Scores a text by the share of the question's words that it contains."""

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score texts from 0 to 1. See `Reranker.score`."""
        wanted = set(plain_words(question))
        return [len(wanted & set(plain_words(text))) / max(1, len(wanted)) for text in texts]
