"""Retries, in rounds, what failed because a model was unavailable."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Generic, TypeVar

from paperscope_core.errors import ModelRateLimitError, ModelUnavailableError

__all__ = ["RetryRounds"]


T = TypeVar("T")
Unfinished = list[tuple[T, ModelUnavailableError]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class RetryRounds:
    """How often, and after what pause (seconds), items that met an unavailable model get another round.

    The n-th of at most `most` further rounds comes after `first` seconds, twice as many each time, and after as many as
    the endpoint asked for. There is no further one where that is more than `longest`, nor when a whole further round
    brought nothing. After `strikes` failures in a row, the rest of a round is not sent: an endpoint that is stopped
    costs two short rounds, however many items wait for it.
    """

    most: int = 3
    first: float = 30.0
    longest: float = 3600.0
    strikes: int = 8
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def run(self, items: Sequence[T], work: Callable[[T], Awaitable[None]], *, at_once: int) -> Unfinished[T]:
        """Do `work` on all items, `at_once` at a time; returns those whose last round failed, with the reason.

        `work` raises ModelUnavailableError for an item that may go later; whatever else it raises ends all.
        """
        left = await self._round(items, work, at_once)
        for number in range(self.most):
            pause = self._pause(number, left)
            if not left or pause > self.longest:
                break
            _log.warning("%d questions wait: %s; asking again in %.0f s", len(left), left[-1][1], pause)
            await self.sleep(pause)
            before = len(left)
            left = await self._round([item for item, _ in left], work, at_once)
            if len(left) == before:
                break
        return left

    async def _round(self, items: Sequence[T], work: Callable[[T], Awaitable[None]], at_once: int) -> Unfinished[T]:
        one = _Round(items, work, strikes=self.strikes)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(at_once, len(items))):
                    group.create_task(one.go())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return one.left()

    def _pause(self, number: int, left: Unfinished[T]) -> float:
        asked = [error.retry_after or 0.0 for _, error in left if isinstance(error, ModelRateLimitError)]
        return max([self.first * 2.0**number, *asked])


class _Round(Generic[T]):
    """One go at all items; several `go` share them."""

    def __init__(self, items: Sequence[T], work: Callable[[T], Awaitable[None]], *, strikes: int) -> None:
        self._items = items
        self._waiting = iter(enumerate(items))
        self._work = work
        self._strikes = strikes
        self._in_a_row: list[ModelUnavailableError] = []
        self._failed: dict[int, ModelUnavailableError] = {}

    async def go(self) -> None:
        """Work until no item is left; those that come after too many failures in a row are not sent."""
        for number, item in self._waiting:
            if len(self._in_a_row) >= self._strikes:
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

    def left(self) -> Unfinished[T]:
        """What failed or was not sent, in the order of the items."""
        return [(self._items[number], error) for number, error in sorted(self._failed.items(), key=itemgetter(0))]
