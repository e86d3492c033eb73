"""Retries, in rounds, of items that failed because a model was unavailable."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Generic, TypeVar

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
        """Does `work` on all items, `concurrency` at a time; returns the items that failed in the last round, and why.

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
        one = _Round(items, work, max_failures=self.max_failures)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(items))):
                    group.create_task(one.work_through())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return one.failures()

    def _pause(self, number: int, failed: Failures[T]) -> float:
        requested = [error.retry_after or 0.0 for _, error in failed if isinstance(error, ModelRateLimitError)]
        return max([self.first_pause * 2.0**number, *requested])


class _Round(Generic[T]):
    """One pass over all items, which several tasks share."""

    def __init__(self, items: Sequence[T], work: Callable[[T], Awaitable[None]], *, max_failures: int) -> None:
        self._items = items
        self._remaining = iter(enumerate(items))
        self._work = work
        self._max_failures = max_failures
        self._in_a_row: list[ModelUnavailableError] = []
        self._failed: dict[int, ModelUnavailableError] = {}

    async def work_through(self) -> None:
        """Works until no item remains; after too many failures in a row, the others fail without being sent."""
        for number, item in self._remaining:
            if len(self._in_a_row) >= self._max_failures:
                last = self._in_a_row[-1]
                self._failed[number] = ModelUnavailableError(
                    f"not asked, after {len(self._in_a_row)} failures in a row: {last.public}", where=last.where
                )
                continue
            try:
                await self._work(item)
            except ModelUnavailableError as error:
                self._in_a_row.append(error)
                self._failed[number] = error
            else:
                self._in_a_row.clear()

    def failures(self) -> Failures[T]:
        """The items that failed or were not sent, in order."""
        return [(self._items[number], error) for number, error in sorted(self._failed.items(), key=itemgetter(0))]
