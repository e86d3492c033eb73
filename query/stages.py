"""Times the stages of one answer and tells who listens when each begins."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paperscope.types import StageTime

__all__ = ["Stages"]


class Stages:
    """The stages of one answer in the order in which they ended; two may run at the same time."""

    def __init__(self, on_stage: Callable[[str], None] | None = None) -> None:
        self._on_stage = on_stage
        self._start = time.perf_counter()
        self._times: list[StageTime] = []

    @contextmanager
    def run(self, stage: str) -> Iterator[None]:
        """Time the block under this name; one that raises is not noted."""
        if self._on_stage is not None:
            self._on_stage(stage)
        start = time.perf_counter()
        yield
        self._times.append(StageTime(stage=stage, seconds=time.perf_counter() - start))

    @property
    def times(self) -> tuple[StageTime, ...]:
        """The stages so far."""
        return tuple(self._times)

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._start
