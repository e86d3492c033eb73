"""Measures time, memory and disk of growing libraries and of questions. Standard library only."""

import json
import random
import re
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO, TypeVar

from evaluation.peers.protocol import PeerDocument
from evaluation.peers.synthetic import SHARED, synthetic_paper, synthetic_words

__all__ = [
    "KINDS",
    "Clock",
    "GrowingLibrary",
    "GrowthStep",
    "StepReport",
    "SyntheticQuestion",
    "TimedQuestion",
    "grow",
    "neighbours",
    "papers_with",
    "peak_memory_mb",
    "question_about",
    "questions_over",
    "size_mb",
    "time_questions",
    "write_report",
]


_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def peak_memory_mb(process: int | None = None) -> float:
    """In megabytes (2^20 bytes); of another process by its number, on Linux only (0 elsewhere)."""
    status = Path(f"/proc/{process or 'self'}/status")
    # On Linux getrusage counts what the parent held when it started this process.
    if status.is_file() and (found := _PEAK.search(status.read_text())):
        return round(int(found[1]) / (1 << 10), 1)
    if process is not None:
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


_MOST_ASKED = 25

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class GrowthStep:
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
class GrowingLibrary:
    """A library under measurement: how a paper is added so that it can be found, how a question is asked of it, its
    folder, and the clock that its embedder tells its time."""

    add: Callable[[PeerDocument], Awaitable[None]]
    retrieve: Callable[[str], Awaitable[int]]
    folder: Path
    clock: Clock


async def grow(library: GrowingLibrary, *, papers: int, seed: int, marks: Sequence[int], stream: TextIO) -> None:
    """Add the papers 1 to `papers`, writing a `Step` a line.

    Questions are asked after the nearest neighbours of `marks` only, and the folder is measured at the marks.
    Raises ValueError where a question about a paper that was just added finds nothing.
    """
    asked = {number for mark in marks for number in neighbours(mark) if abs(number - mark) <= _MOST_ASKED}
    for number in range(1, papers + 1):
        document = synthetic_paper(number, seed=seed)
        _, add, add_cpu = await library.clock.time(library.add(document))
        retrieve = await _time_question(library, document) if number in asked else 0.0
        step = GrowthStep(
            paper=number,
            add=round(add, 5),
            add_cpu=round(add_cpu, 5),
            retrieve=round(retrieve, 5),
            memory_mb=_memory_mb(),
            disk_mb=_size_mb(library.folder) if number in marks else 0.0,
        )
        stream.write(json.dumps(asdict(step)) + "\n")
        stream.flush()


async def _time_question(library: GrowingLibrary, document: PeerDocument) -> float:
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


KINDS = ("two names", "one own name", "words only")
_WORDS_ASKED = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class SyntheticQuestion:
    """A question of one of `KINDS`."""

    kind: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedQuestion:
    """One question's retrieval: seconds by the wall and of the processor, and how many texts were found."""

    kind: str
    seconds: float
    cpu: float
    found: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StepReport:
    """What a process tells of a library of `papers` papers: of making it, or of asking it.

    `seconds` are those of making or opening it, without the embedder's. `memory_mb` is the most that the process held.
    `asked[0]` is the first question after opening.
    """

    papers: int
    seconds: float
    memory_mb: float
    disk_mb: float
    asked: tuple[TimedQuestion, ...] = ()


def papers_with(entities: int, *, seed: int) -> int:
    """How many of the synthetic papers, from the first on, hold so many distinct entities together."""
    names: set[str] = set()
    papers = 0
    while len(names) < entities:
        papers += 1
        names.update(entity.name for entity in synthetic_paper(papers, seed=seed).entities)
    return papers


def questions_over(papers: int, *, count: int, seed: int) -> list[SyntheticQuestion]:
    """`count` questions about random ones of so many papers, the kinds in turn; the same for the same seed."""
    draw = random.Random(f"questions {seed} {papers}")  # noqa: S311
    made = []
    for number in range(count):
        names = [entity.name for entity in synthetic_paper(draw.randint(1, papers), seed=seed).entities]
        shared, own = draw.choice(names[:SHARED]), draw.choice(names[SHARED:])
        texts = (
            f"How does {shared} compare with {own}?",
            f"What is reported of {own}, and how was it measured?",
            f"Which results were found for {synthetic_words(draw, count=_WORDS_ASKED)}?",
        )
        kind = number % len(KINDS)
        made.append(SyntheticQuestion(kind=KINDS[kind], text=texts[kind]))
    return made


async def time_questions(
    questions: Sequence[SyntheticQuestion], retrieve: Callable[[str], Awaitable[int]], *, clock: Clock
) -> tuple[TimedQuestion, ...]:
    """Ask one after the other."""
    asked = []
    for question in questions:
        found, seconds, cpu = await clock.time(retrieve(question.text))
        asked.append(TimedQuestion(kind=question.kind, seconds=round(seconds, 5), cpu=round(cpu, 5), found=found))
    return tuple(asked)


def write_report(
    stream: TextIO, folder: Path, *, papers: int, seconds: float, asked: tuple[TimedQuestion, ...] = ()
) -> None:
    """Write what there is to tell of the library in `folder` as a line of JSON."""
    told = StepReport(
        papers=papers,
        seconds=round(seconds, 3),
        memory_mb=peak_memory_mb(),
        disk_mb=size_mb(folder),
        asked=asked,
    )
    stream.write(json.dumps(asdict(told)) + "\n")


def size_mb(folder: Path) -> float:
    """What a folder holds, in megabytes (2^20 bytes)."""
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / (1 << 20), 2)
