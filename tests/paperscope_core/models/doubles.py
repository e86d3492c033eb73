"""A model whose calls last as long as a test wants, and a sleep that takes no time."""

import asyncio
from collections.abc import Sequence

from paperscope_core.models import RetryPolicy
from paperscope_core.types import ModelReply, ModelRequest, Usage

__all__ = ["RecordingSleep", "SlowModel", "settle"]


class SlowModel:
    """A model whose calls last until `finish` is set; the first fail. `most` is how many ran at once."""

    name = "slow"

    def __init__(self, *, fails: Sequence[Exception] = ()) -> None:
        self.fails = list(fails)
        self.calls = self.now = self.most = 0
        self.finish = asyncio.Event()

    def redacted(self, text: str) -> str:
        return text

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.finish.wait()
        finally:
            self.now -= 1
        if self.fails:
            raise self.fails.pop(0)
        return ModelReply(text=request.messages[0].text, usage=Usage(calls=1, cost=1.0))


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class RecordingSleep:
    """Records the waits and does not wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def policy(self, *, retries: int = 3, jitter: float = 0.0) -> RetryPolicy:
        return RetryPolicy(retries=retries, first=1.0, longest=3.0, sleep=self.sleep, jitter=lambda: jitter)
