"""How the time of each stage grows with its input: adversarial texts of three sizes, and the exponent of their times.

Run as a program, it prints the exponents of all stages; see `scripts/growth`.
"""

import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.growth_stages import Stage

__all__ = ["LIMIT", "Growth", "confirmed_growth", "growth", "seconds_of"]

LIMIT = 1.3
"""The greatest exponent: more is a defect. Linear work has 1, sorting a little more."""

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Growth:
    """The seconds for three sizes, each twice the one before, and their exponent."""

    seconds: tuple[float, ...]
    stopped: bool = False

    @property
    def exponent(self) -> float:
        """How the time grows: 1 is linear; infinite if the work was stopped."""
        return math.inf if self.stopped else math.log(self.seconds[2] / self.seconds[0], 4)


class _StoppedError(Exception):
    """The work took too long."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(*_signal: object) -> None:
        raise _StoppedError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def seconds_of(work: Callable[[], object], *, limit: float) -> float:
    """The processor time of work, which is stopped after `limit` seconds; if it is, `limit`."""
    start = time.process_time()
    try:
        with _limited(limit):
            work()
    except _StoppedError:
        return limit
    return time.process_time() - start


def growth(stage: "Stage", name: str, *, size: int, least: float = 0.05, limit: float = 20.0) -> Growth:
    """Measures a stage on an input of `size`, `2 * size` and `4 * size` letters, times the stage's share.

    Args:
        name: The name of the input among those of the stage.
        least: Times below this many seconds count as this: they measure the clock.
        limit: The seconds after which the work is stopped.
    """
    make = stage.inputs[name]
    stage.prepare(make(100))()  # Loads what is loaded once.
    seconds: list[float] = []
    for factor in (4, 2, 1):
        taken = seconds_of(stage.prepare(make(int(factor * size * stage.share))), limit=limit)
        if taken >= limit:
            return Growth((limit, *seconds), stopped=True)
        seconds.insert(0, max(taken, least))
        if seconds == [least]:
            # The smaller inputs take no longer.
            return Growth((least, least, least))
    return Growth(tuple(seconds))


def confirmed_growth(stage: "Stage", name: str, *, size: int, limit: float = 20.0) -> Growth:
    """Measures a stage as `growth` does, and again if the exponent is above `LIMIT`.

    Other processes can make a run longer.

    Returns:
        The measure with the least exponent of at most three.
    """
    found = [growth(stage, name, size=size, limit=limit)]
    while found[-1].exponent > LIMIT and len(found) < _ATTEMPTS:
        found.append(growth(stage, name, size=size, limit=limit))
    return min(found, key=lambda one: one.exponent)


def main() -> int:
    """Prints the worst exponents of each stage; 1 if one is above the limit."""
    from tests.growth_stages import STAGES

    size = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    failed = 0
    for stage in sys.argv[2:] or list(STAGES):
        found = [(name, confirmed_growth(STAGES[stage], name, size=size)) for name in STAGES[stage].inputs]
        found.sort(key=lambda one: (-one[1].exponent, -one[1].seconds[-1]))
        shown = ", ".join(f"{name} {one.exponent:.2f} ({one.seconds[-1]:.2f} s)" for name, one in found[:4])
        print(f"{stage:15}  {shown}", flush=True)  # noqa: T201
        failed += sum(one.exponent > LIMIT for _, one in found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
