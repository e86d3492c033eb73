"""Retries of failed model calls, with exponential backoff."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import SystemRandom
from typing import TypeVar

from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import ModelRateLimitError, ModelUnavailableError
from paperscope_core.models.wrapper import streamed
from paperscope_core.protocols import Embedder, LanguageModel
from paperscope_core.types import ModelReply, ModelRequest

__all__ = ["RetryPolicy", "RetryingEmbedder", "RetryingModel"]


T = TypeVar("T")

_log = logging.getLogger(__name__)
# A wait of so many seconds is worth a word to the user.
_TOLD = 10.0


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """Waits `first` seconds, then twice as long each time, up to `longest`, shortened by up to half at random.

    A rate limit is no failure: it is waited out, `retries` or not, as long as a server's Retry-After says at least.
    Only where the waits of a call would come to more than `patience` seconds, it is given up at once.
    """

    retries: int = 4
    first: float = 1.0
    longest: float = 60.0
    patience: float = 1800.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = field(default_factory=lambda: SystemRandom().random)

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """What `call` returns; raises its last error. Only `ModelUnavailableError` is worth another try."""
        failures = limits = 0
        waited = 0.0
        while True:
            try:
                return await call()
            except ModelRateLimitError as error:
                wait = max(self._wait(limits), error.retry_after or 0.0)
                limits += 1
                waited += wait
                if waited > self.patience:
                    raise
                if wait >= _TOLD:
                    _log.warning("%s; waiting for %.0f s", error, wait)
            except ModelUnavailableError:
                if failures == self.retries:
                    raise
                wait = self._wait(failures)
                failures += 1
            await self.sleep(wait)

    def _wait(self, attempt: int) -> float:
        # Beyond some hundred attempts, the power would be too large for a float.
        return min(self.longest, self.first * 2.0 ** min(attempt, 100)) * (1 - self.jitter() / 2)


class RetryingModel:
    """A language model that is asked again under a policy."""

    def __init__(self, model: LanguageModel, policy: RetryPolicy) -> None:
        self._model = model
        self._policy = policy

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The first reply that comes."""
        return await self._policy.run(lambda: self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The first reply that comes whole; see `StreamingModel`."""
        return await self._policy.run(lambda: streamed(self._model, request, on_text))


class RetryingEmbedder:
    """An embedder that is asked again under a policy."""

    def __init__(self, embedder: Embedder, policy: RetryPolicy) -> None:
        self._embedder = embedder
        self._policy = policy

    @property
    def name(self) -> str:
        """The wrapped embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """The first rows that come."""
        return await self._policy.run(lambda: self._embedder.embed(texts))
