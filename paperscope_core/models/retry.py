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
from paperscope_core.models.wrapper import EmbedderWrapper, ModelWrapper, SendRequest
from paperscope_core.protocols import Embedder, LanguageModel
from paperscope_core.types import ModelReply, ModelRequest

__all__ = ["RetryPolicy", "RetryingEmbedder", "RetryingModel"]

T = TypeVar("T")

_log = logging.getLogger(__name__)
# The limit of a user's attention (J. Nielsen, "Usability Engineering", 1993).
_LOGGED_WAIT_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """Exponential backoff with jitter: `first` seconds, then twice as long each time, up to `longest`.

    A rate limit is not a failure. It does not count as one of the `retries`, and the wait is at least the server's
    Retry-After. Once the waits for rate limits would exceed `patience` seconds in total, the call fails at once.

    The `openai` client's own retries are disabled: it gives up after a Retry-After of more than two minutes, occupies a
    concurrency slot while it waits, and reports neither the attempts nor their cost.
    """

    retries: int = 4
    first: float = 1.0
    longest: float = 60.0
    patience: float = 1800.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = field(default_factory=lambda: SystemRandom().random)

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `call`, retried as the policy allows.

        Raises:
            ModelUnavailableError: The error of the last attempt, after `retries` failures or once `patience` is
                exhausted.
        """
        failures = limits = 0
        waited = 0.0
        while True:
            try:
                return await call()
            except ModelRateLimitError as error:
                wait = max(self._backoff(limits), error.retry_after or 0.0)
                limits += 1
                waited += wait
                if waited > self.patience:
                    raise
                if wait >= _LOGGED_WAIT_SECONDS:
                    _log.warning("%s; waiting for %.0f s", error, wait)
            except ModelUnavailableError:
                if failures == self.retries:
                    raise
                wait = self._backoff(failures)
                failures += 1
            await self.sleep(wait)

    def _backoff(self, attempt: int) -> float:
        # The exponent is bounded because 2.0 ** 1024 overflows.
        return min(self.longest, self.first * 2.0 ** min(attempt, 100)) * (1 - self.jitter() / 2)


class RetryingModel(ModelWrapper):
    """Retries failed calls of a language model under a policy."""

    def __init__(self, model: LanguageModel, policy: RetryPolicy) -> None:
        super().__init__(model)
        self._policy = policy

    async def _call(self, _request: ModelRequest, send: SendRequest, /) -> ModelReply:
        return await self._policy.run(send)


class RetryingEmbedder(EmbedderWrapper):
    """Retries failed calls of an embedder under a policy."""

    def __init__(self, embedder: Embedder, policy: RetryPolicy) -> None:
        super().__init__(embedder)
        self._policy = policy

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts, with retries. See `Embedder.embed`."""
        return await self._policy.run(lambda: self._embedder.embed(texts))
