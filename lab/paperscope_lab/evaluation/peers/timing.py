"""Measures time, memory and disk use of libraries of synthetic papers, alike for Paperscope and LightRAG.

A module per system passes its arguments (see `job_and_results`) and a function that opens a library to `run_worker`.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from paperscope_lab.evaluation.peers.memory import peak_memory_mb
from paperscope_lab.evaluation.peers.protocol import PeerDocument, job_and_results
from paperscope_lab.evaluation.peers.synthetic import SHARED, synthetic_names, synthetic_paper, synthetic_words

__all__ = [
    "Clock",
    "GrowthStep",
    "StepReport",
    "TimedLibrary",
    "TimedQuestion",
    "TimingJob",
    "neighbours",
    "papers_with",
    "question_about",
    "questions_over",
    "run_worker",
]

# The number of papers before and after a checkpoint that are asked about: enough for a mean, and fast compared with
# adding them.
_MAX_ASKED = 25
# Words of a question that names no entity.
_QUESTION_WORDS = 8

Value = TypeVar("Value")
Write = Callable[[object], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class TimingJob:
    """The job of a worker.

    "grow" adds `papers` papers to a new library one by one, and reports a `GrowthStep` each; it asks questions around
    the `checkpoints`. "make" adds papers to the library in `folder` until it has `papers`, and "ask" asks it
    `questions` questions; both report a `StepReport`.
    """

    step: Literal["grow", "make", "ask"]
    papers: int
    seed: int
    checkpoints: tuple[int, ...] = ()
    folder: str = ""
    questions: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class GrowthStep:
    """The cost of one more paper: the seconds to add it, and of one retrieval from the library with it.

    The embedder's time is excluded. `retrieve` is 0 if no question was asked. `add_cpu` is CPU time, which other
    processes don't affect. `memory_mb` is the peak memory of the process so far. `disk_mb` is the size of the library's
    folder, 0 if it was not measured.
    """

    paper: int
    add: float
    add_cpu: float
    retrieve: float
    memory_mb: float
    disk_mb: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedQuestion:
    """The retrieval for one question: wall-clock time, CPU time, and the number of texts found."""

    seconds: float
    cpu: float
    found: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StepReport:
    """The report of the steps "make" and "ask".

    `seconds` is the time to create or to open the library; `memory_mb` is the peak memory of the process. `asked[0]` is
    the first question after opening.
    """

    seconds: float
    memory_mb: float
    disk_mb: float
    asked: tuple[TimedQuestion, ...] = ()


class Clock:
    """Wall-clock and CPU time, without the time of a model."""

    def __init__(self) -> None:
        self._model = (0.0, 0.0)

    async def time(self, work: Awaitable[Value]) -> tuple[Value, float, float]:
        """Awaits the work; returns its value, its wall-clock time and its CPU time."""
        before = self._elapsed()
        value = await work
        wall, cpu = (round(end - start, 5) for end, start in zip(self._elapsed(), before, strict=True))
        return value, wall, cpu

    async def leave_out(self, work: Awaitable[Value]) -> Value:
        """Awaits a model's work and excludes its time."""
        before = self._elapsed()
        value = await work
        self._model = time.perf_counter() - before[0], time.process_time() - before[1]
        return value

    def _elapsed(self) -> tuple[float, float]:
        return time.perf_counter() - self._model[0], time.process_time() - self._model[1]


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedLibrary:
    """An open library that contained `papers` papers when it was opened.

    Papers added with `add` can be found at once; papers added with `add_all`, once the library is closed. `retrieve`
    returns the number of texts found.
    """

    papers: int
    add: Callable[[PeerDocument], Awaitable[None]]
    add_all: Callable[[Iterable[PeerDocument]], Awaitable[None]]
    retrieve: Callable[[str], Awaitable[int]]


# Opens the library in a folder, or creates an empty one; the clock excludes its embedder's time.
OpenLibrary = Callable[[Path, Clock], AbstractAsyncContextManager[TimedLibrary]]


def run_worker(arguments: Sequence[str], open_library: OpenLibrary) -> None:
    """Runs a `TimingJob`.

    Raises:
        ValueError: A question about a paper that was just added finds nothing.
    """
    with job_and_results(arguments, TimingJob) as (job, write):
        asyncio.run({"grow": _grow, "make": _make, "ask": _ask}[job.step](open_library, job, write))


async def _grow(open_library: OpenLibrary, job: TimingJob, write: Write) -> None:
    asked = {paper for point in job.checkpoints for paper in neighbours(point) if abs(paper - point) <= _MAX_ASKED}
    clock = Clock()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "library"
        async with open_library(folder, clock) as library:
            for number in range(1, job.papers + 1):
                document = synthetic_paper(number, seed=job.seed)
                _, add, add_cpu = await clock.time(library.add(document))
                retrieve = 0.0
                if number in asked:
                    found, retrieve, _ = await clock.time(library.retrieve(question_about(document)))
                    if not found:
                        raise ValueError(f"nothing was found for a question about {document.id}")
                size = _size_mb(folder) if number in job.checkpoints else 0.0
                write(
                    GrowthStep(
                        paper=number,
                        add=add,
                        add_cpu=add_cpu,
                        retrieve=retrieve,
                        memory_mb=peak_memory_mb(),
                        disk_mb=size,
                    )
                )


async def _make(open_library: OpenLibrary, job: TimingJob, write: Write) -> None:
    started = time.perf_counter()
    async with open_library(Path(job.folder), Clock()) as library:
        numbers = range(library.papers + 1, job.papers + 1)
        await library.add_all(synthetic_paper(number, seed=job.seed) for number in numbers)
    write(_report(job, seconds=time.perf_counter() - started))


async def _ask(open_library: OpenLibrary, job: TimingJob, write: Write) -> None:
    clock, started = Clock(), time.perf_counter()
    asked = []
    async with open_library(Path(job.folder), clock) as library:
        opened = time.perf_counter() - started
        for question in questions_over(job.papers, count=job.questions, seed=job.seed):
            found, seconds, cpu = await clock.time(library.retrieve(question))
            asked.append(TimedQuestion(seconds=seconds, cpu=cpu, found=found))
    write(_report(job, seconds=opened, asked=asked))


def _report(job: TimingJob, *, seconds: float, asked: Sequence[TimedQuestion] = ()) -> StepReport:
    return StepReport(
        seconds=round(seconds, 3),
        memory_mb=peak_memory_mb(),
        disk_mb=_size_mb(Path(job.folder)),
        asked=tuple(asked),
    )


def _size_mb(folder: Path) -> float:
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / (1 << 20), 2)


def neighbours(paper: int) -> range:
    """The papers around a checkpoint: each side has half as many as there are papers before the checkpoint.

    Periodic work, such as a snapshot after a quarter of the library has changed, is then counted with its actual
    frequency.
    """
    reach = paper // 2
    return range(paper - reach, paper + reach + 1)


def question_about(document: PeerDocument) -> str:
    """A question that names one entity shared by many papers, and one of this paper alone."""
    return f"How does {document.entities[0].name} compare with {document.entities[-1].name}?"


def papers_with(entities: int, *, seed: int) -> int:
    """The number of synthetic papers, from the first on, that together have this many distinct entities."""
    names: set[str] = set()
    papers = 0
    while len(names) < entities:
        papers += 1
        names.update(synthetic_names(papers, seed=seed))
    return papers


def questions_over(papers: int, *, count: int, seed: int) -> list[str]:
    """Returns `count` questions about random papers of the first `papers`; the same ones for the same seed.

    They alternate between naming a shared entity and one of the paper alone, one of the paper alone, and no entity.
    """
    draw = random.Random(f"questions {seed} {papers}")  # noqa: S311
    questions = []
    for number in range(count):
        names = synthetic_names(draw.randint(1, papers), seed=seed)
        shared, own = draw.choice(names[:SHARED]), draw.choice(names[SHARED:])
        texts = (
            f"How does {shared} compare with {own}?",
            f"What is reported of {own}, and how was it measured?",
            f"Which results were found for {synthetic_words(draw, count=_QUESTION_WORDS)}?",
        )
        questions.append(texts[number % len(texts)])
    return questions
