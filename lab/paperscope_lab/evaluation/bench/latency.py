"""`bench query`: retrieval latency in libraries of growing size."""

import argparse
import math
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean

import numpy as np

from paperscope_core.errors import InputError
from paperscope_core.files import output_errors
from paperscope_core.processes import collect_rarely
from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.bench.synthetic import (
    megabytes,
    open_library,
    papers_with,
    questions_over,
    synthetic_paper,
)
from paperscope_lab.evaluation.peers.memory import peak_memory_mb
from paperscope_lab.evaluation.rendering import table

__all__ = ["DESCRIPTION", "HELP", "Latency", "add_options", "run"]

HELP = "how long retrieval takes in a library of 1,000 to 200,000 entities"
DESCRIPTION = (
    "Makes libraries of synthetic papers and asks them seeded questions that name two entities, one, or none, without "
    "a model's latency: seconds of the first question, p50, p95, CPU seconds and memory at each size."
)
_ENTITIES = (1_000, 20_000, 200_000)
_MIN_QUESTIONS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """The retrieval latency at one library size, in seconds.

    `cold` is the time to open the library and to ask the first question. `p50` and `p95` are the median and the 95th
    percentile of the others, and `cpu` is their mean CPU time. `empty` counts questions for which nothing was found.
    """

    entities: int
    papers: int
    cold: float
    p50: float
    p95: float
    cpu: float
    memory_mb: float
    disk_mb: float
    empty: int


def add_options(query: argparse.ArgumentParser) -> None:
    """Add the options of `query`."""
    query.add_argument("--entities", type=int, nargs="+", default=_ENTITIES, metavar="N", help="sizes of the libraries")
    query.add_argument("--questions", type=int, default=60, metavar="N", help="at each size (default: 60)")
    query.add_argument("--seed", type=int, default=0, help="determines the content of papers and questions")
    query.add_argument("--work", type=Path, metavar="DIR", help="keep the libraries here; a second run starts there")
    add_out(query)


def run(options: argparse.Namespace) -> int:
    """Return 0. Raises InputError."""
    if options.questions < _MIN_QUESTIONS:
        raise InputError(
            f"--questions {options.questions}: too few to compute percentiles; ask {_MIN_QUESTIONS} or more"
        )
    with tempfile.TemporaryDirectory(prefix="paperscope-bench-") as folder:
        found = list(_latencies((options.work or Path(folder)).resolve(), options))
    header = ["entities", "papers", "cold s", "p50 s", "p95 s", "CPU s", "memory MB", "disk MB"]
    rows = [
        [
            str(one.entities),
            str(one.papers),
            *(f"{value:.4f}" for value in (one.cold, one.p50, one.p95, one.cpu)),
            *(f"{value:.0f}" for value in (one.memory_mb, one.disk_mb)),
        ]
        for one in found
    ]
    empty = [f"{one.entities} entities: {one.empty} questions found nothing." for one in found if one.empty]
    print_page([*table(header, rows), *_growth(found), *empty])
    write_figures(options.out, found)
    return 0


def _latencies(work: Path, options: argparse.Namespace) -> Iterator[Latency]:
    smaller: Path | None = None
    for entities in sorted(set(options.entities)):
        papers = papers_with(entities, seed=options.seed)
        library = work / f"{options.seed}-{entities}"
        # A process of its own for each step, whose peak memory is that of the step.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as process:
            if not library.is_dir():
                process.submit(_make, library, smaller, papers, options.seed).result()
            yield process.submit(_ask, library, entities, papers, options.questions, options.seed).result()
        smaller = library


def _make(library: Path, smaller: Path | None, papers: int, seed: int) -> None:
    """Make a library, from what an interrupted run left, or from a smaller one."""
    part = library.with_name(f"{library.name}.part")
    with output_errors(part):
        if smaller is not None and not part.is_dir():
            copy = part.with_name(f"{part.name}.copy")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(smaller, copy)
            copy.rename(part)
        part.mkdir(parents=True, exist_ok=True)
    collect_rarely()
    with open_library(part) as found:
        for number in range(found.papers + 1, papers + 1):
            found.write(synthetic_paper(number, seed=seed))
    part.rename(library)


def _ask(library: Path, entities: int, papers: int, questions: int, seed: int) -> Latency:
    # As the command line and the service do.
    collect_rarely()
    started = time.perf_counter()
    with open_library(library) as found:
        opened = time.perf_counter() - started
        asked = [found.retrieve(question) for question in questions_over(papers, count=questions, seed=seed)]
    (_, first), *others = asked
    p50, p95 = np.percentile([times.wall for _, times in others], (50, 95)).tolist()
    return Latency(
        entities=entities,
        papers=papers,
        cold=opened + first.wall,
        p50=p50,
        p95=p95,
        cpu=fmean(times.cpu for _, times in others),
        memory_mb=peak_memory_mb(),
        disk_mb=megabytes(library),
        empty=sum(not texts for texts, _ in asked),
    )


def _growth(found: Sequence[Latency]) -> Iterator[str]:
    """Yield the largest library relative to the smallest, and twice the ratio of the logarithms of their sizes."""
    first, last = found[0], found[-1]
    if last.entities > first.entities:
        bound = 2 * math.log(last.entities) / math.log(first.entities)
        yield (
            f"{first.entities} to {last.entities} entities: p50 {last.p50 / first.p50:.2f} times, "
            f"CPU {last.cpu / first.cpu:.2f} times (twice the logarithm: {bound:.2f})."
        )
