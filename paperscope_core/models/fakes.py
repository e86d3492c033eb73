"""Deterministic models, embedders and rerankers for tests."""

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import ModelError, ModelRefusedError
from paperscope_core.types import ModelReply, ModelRequest, Usage

__all__ = ["FakeEmbedder", "FakeModel", "FakeReranker"]


_PIECE = 7


class FakeModel:
    """A language and vision model that replies from a function or a script; `requests` are those it was asked.

    An error in the script is raised. A word counts as a token, and every call as one.
    """

    def __init__(
        self, replies: Callable[[ModelRequest], str] | Iterable[str | ModelError], *, name: str = "fake"
    ) -> None:
        self._name = name
        self._reply = replies if callable(replies) else _script(replies)
        self.requests: list[ModelRequest] = []

    @property
    def name(self) -> str:
        """The name given."""
        return self._name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The function's value, or the script's next reply; an exhausted script is a `ModelRefusedError`."""
        self.requests.append(request)
        text = self._reply(request)
        asked = sum(len(message.text.split()) for message in request.messages)
        return ModelReply(text=text, usage=Usage(calls=1, prompt_tokens=asked, completion_tokens=len(text.split())))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The same reply, told in pieces of seven letters."""
        reply = await self.complete(request)
        for end in range(_PIECE, len(reply.text) + _PIECE, _PIECE):
            on_text(reply.text[:end])
            await asyncio.sleep(0)
        return reply


class FakeEmbedder:
    """A bag of hashed words: texts that share words are near to each other."""

    def __init__(self, *, dimension: int = 64) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        """Tells dimensions apart."""
        return f"fake-{self._dimension}"

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """One unit-length row a text; a text without words gets a direction of its own."""
        rows = np.zeros((len(texts), self._dimension), dtype=float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _words(text) or [""]:
                digest = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
                row[digest % self._dimension] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=float32)


class FakeReranker:
    """Scores a text by the share of the question's words that it holds."""

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score a text, from 0 to 1."""
        asked = set(_words(question))
        return [len(asked & set(_words(text))) / max(1, len(asked)) for text in texts]


def _script(replies: Iterable[str | ModelError]) -> Callable[[ModelRequest], str]:
    left = iter(replies)

    def reply(request: ModelRequest) -> str:
        following = next(left, None)
        if following is None:
            raise ModelRefusedError(f"the fake's script is at its end, but it was asked {request.messages[-1].text!r}")
        if isinstance(following, ModelError):
            raise following
        return following

    return reply


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
