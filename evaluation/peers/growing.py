"""Adds paper after paper to a library and times each; the same loop for ours and for a peer's.

Only the standard library is imported, so that a peer's Python can.
"""

import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO, TypeVar

from evaluation.peers.job import PeerDocument
from evaluation.peers.synthetic import synthetic_paper

__all__ = ["Clock", "Growing", "Step", "grow", "neighbours", "question_about"]

_MOST_ASKED = 25

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One paper more: seconds to add it and to retrieve once from the library with it, both without the embedder's.

    `retrieve` is 0 where no question was asked; `add_cpu` are seconds of the processor, which other programs on the
    machine don't lengthen. `memory_mb` is the most that the process held until then; `disk_mb` is what the library's
    folder holds, 0 where it was not looked at.
    """

    paper: int
    add: float
    add_cpu: float
    retrieve: float
    memory_mb: float
    disk_mb: float = 0.0


class Clock:
    """Seconds by the wall and of the processor, those of a model left out."""

    def __init__(self) -> None:
        self._model = (0.0, 0.0)

    async def time(self, work: Awaitable[Value]) -> tuple[Value, float, float]:
        """The value of some work, its seconds by the wall, and those of the processor."""
        before = self._spent()
        value = await work
        wall, cpu = (end - start for end, start in zip(self._spent(), before, strict=True))
        return value, wall, cpu

    async def leave_out(self, work: Awaitable[Value]) -> Value:
        """The value of a model's work."""
        before = self._spent()
        value = await work
        wall, cpu = _now()
        self._model = wall - before[0], cpu - before[1]
        return value

    def _spent(self) -> tuple[float, float]:
        wall, cpu = _now()
        return wall - self._model[0], cpu - self._model[1]


@dataclass(frozen=True, kw_only=True, slots=True)
class Growing:
    """A library under measurement: how a paper is added so that it can be found, how a question is asked of it, its
    folder, and the clock that its embedder tells its time."""

    add: Callable[[PeerDocument], Awaitable[None]]
    retrieve: Callable[[str], Awaitable[int]]
    folder: Path
    clock: Clock


async def grow(library: Growing, *, papers: int, seed: int, marks: Sequence[int], stream: TextIO) -> None:
    """Add the papers 1 to `papers`, writing a `Step` a line.

    Questions are asked after the nearest neighbours of `marks` only, and the folder is measured at the marks.
    Raises ValueError where a question about a paper that was just added finds nothing.
    """
    asked = {number for mark in marks for number in neighbours(mark) if abs(number - mark) <= _MOST_ASKED}
    for number in range(1, papers + 1):
        document = synthetic_paper(number, seed=seed)
        _, add, add_cpu = await library.clock.time(library.add(document))
        retrieve = await _asked(library, document) if number in asked else 0.0
        step = Step(
            paper=number,
            add=round(add, 5),
            add_cpu=round(add_cpu, 5),
            retrieve=round(retrieve, 5),
            memory_mb=_memory_mb(),
            disk_mb=_size_mb(library.folder) if number in marks else 0.0,
        )
        stream.write(json.dumps(asdict(step)) + "\n")
        stream.flush()


async def _asked(library: Growing, document: PeerDocument) -> float:
    found, seconds, _ = await library.clock.time(library.retrieve(question_about(document)))
    if not found:
        raise ValueError(f"nothing was found for a question about {document.id}")
    return seconds


def neighbours(paper: int) -> range:
    """The papers round one, half as many to both sides as there are before it.

    What is written now and then, as a snapshot is when a quarter of it has changed, so counts as often as it happens.
    """
    reach = paper // 2
    return range(paper - reach, paper + reach + 1)


def question_about(document: PeerDocument) -> str:
    """A question that names one entity that many papers share, and one that is this paper's own."""
    return f"How does {document.entities[0].name} compare with {document.entities[-1].name}?"


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _memory_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def _size_mb(folder: Path) -> float:
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / (1 << 20), 2)
