"""Retries, in rounds, of items that failed because a model was unavailable."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from paperscope_core.errors import ModelRateLimitError, ModelUnavailableError

__all__ = ["RetryRounds"]

T = TypeVar("T")
Failures = list[tuple[T, ModelUnavailableError]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class RetryRounds:
    """The number and timing of retries of items that failed because a model was unavailable.

    Failed items are retried together, after all others. There is no further round if one fixed nothing.

    Attributes:
        max_rounds: The number of rounds after the first.
        first_pause: Seconds before the first retry; each further pause is twice as long, and at least as long as the
            endpoint asks for.
        max_pause: If the endpoint asks for a longer pause (seconds), there is no further round.
        max_failures: After this many consecutive failures, the rest of a round is not sent: an endpoint that is down
            costs two short rounds, however many items there are.
    """

    max_rounds: int = 3
    first_pause: float = 30.0
    max_pause: float = 3600.0
    max_failures: int = 8
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def run(self, items: Sequence[T], work: Callable[[T], Awaitable[None]], *, concurrency: int) -> Failures[T]:
        """Do `work` on all items, `concurrency` at a time; return the items that failed in the last round, and why.

        An item for which `work` raises ModelUnavailableError is retried; any other error ends the run and is raised.
        """
        failed = await self._round(items, work, concurrency)
        for number in range(self.max_rounds):
            pause = self._pause(number, failed)
            if not failed or pause > self.max_pause:
                break
            _log.warning("%d questions wait: %s; asking again in %.0f s", len(failed), failed[-1][1], pause)
            await self.sleep(pause)
            before = len(failed)
            failed = await self._round([item for item, _ in failed], work, concurrency)
            if len(failed) == before:
                break
        return failed

    async def _round(self, items: Sequence[T], work: Callable[[T], Awaitable[None]], concurrency: int) -> Failures[T]:
        """Do `work` on each item once; after too many failures in a row, the others fail without being sent."""
        remaining = iter(enumerate(items))
        in_a_row: list[ModelUnavailableError] = []
        failed: dict[int, tuple[T, ModelUnavailableError]] = {}

        async def work_through() -> None:
            for number, item in remaining:
                if len(in_a_row) >= self.max_failures:
                    last = in_a_row[-1]
                    reason = f"not asked, after {len(in_a_row)} failures in a row: {last.public}"
                    failed[number] = item, ModelUnavailableError(reason, where=last.where)
                    continue
                try:
                    await work(item)
                except ModelUnavailableError as error:
                    in_a_row.append(error)
                    failed[number] = item, error
                else:
                    in_a_row.clear()

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(items))):
                    group.create_task(work_through())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [failed[number] for number in sorted(failed)]

    def _pause(self, number: int, failed: Failures[T]) -> float:
        requested = [error.retry_after or 0.0 for _, error in failed if isinstance(error, ModelRateLimitError)]
        return max([self.first_pause * 2.0**number, *requested])
