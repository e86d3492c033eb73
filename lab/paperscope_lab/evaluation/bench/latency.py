"""`bench query`: retrieval latency in libraries of growing size."""

import argparse
import math
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from paperscope_core.errors import InputError
from paperscope_core.files import output_errors
from paperscope_lab.evaluation.bench.common import (
    TimedSystem,
    add_out,
    add_peer,
    print_page,
    timed_systems,
    write_figures,
)
from paperscope_lab.evaluation.peers.timing import StepReport, TimingJob, papers_with
from paperscope_lab.evaluation.rendering import table

__all__ = ["DESCRIPTION", "HELP", "Latency", "add_options", "run"]

HELP = "how long retrieval takes in a library of 1,000 to 200,000 entities"
DESCRIPTION = (
    "Makes libraries of synthetic papers and asks them seeded questions that name two entities, one, or none, without "
    "a model's latency: seconds of the first question, p50, p95, CPU seconds and memory at each size. For comparison, "
    "LightRAG's aquery_data in mode mix over the same papers, with its own storages (nano-vectordb or FAISS) and on "
    "ours, for a limited time."
)
_ENTITIES = (1_000, 20_000, 200_000)
_MIN_QUESTIONS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """The retrieval latency of a system at one library size, in seconds.

    `cold` is the first question after opening; `p50` and `p95` are the median and the 95th percentile of the others,
    and `cpu` is their mean CPU time. `make` is the time to build the library, 0 if it existed. `empty` is the number of
    questions for which nothing was found. `note` says why there are no figures.
    """

    system: str
    entities: int
    papers: int
    cold: float = 0.0
    p50: float = 0.0
    p95: float = 0.0
    cpu: float = 0.0
    memory_mb: float = 0.0
    disk_mb: float = 0.0
    make: float = 0.0
    empty: int = 0
    note: str = ""

    @property
    def label(self) -> str:
        """The system and the size."""
        return f"{self.system}, {self.entities} entities"


def add_options(query: argparse.ArgumentParser) -> None:
    """Adds the options of `query`."""
    query.add_argument("--entities", type=int, nargs="+", default=_ENTITIES, metavar="N", help="sizes of the libraries")
    query.add_argument("--questions", type=int, default=60, metavar="N", help="at each size (default: 60)")
    query.add_argument("--seed", type=int, default=0, help="determines the content of papers and questions")
    query.add_argument("--work", type=Path, metavar="DIR", help="keep the libraries here; a second run starts there")
    add_peer(query, seconds=1800)
    add_out(query)


def run(options: argparse.Namespace) -> int:
    """Returns 0, or 1 if our own library could not be queried."""
    if options.questions < _MIN_QUESTIONS:
        raise InputError(
            f"--questions {options.questions}: too few to compute percentiles; ask {_MIN_QUESTIONS} or more"
        )
    with tempfile.TemporaryDirectory(prefix="paperscope-bench-") as folder:
        found = list(
            _latencies(timed_systems(options, storages=True), (options.work or Path(folder)).resolve(), options)
        )
    measured = [one for one in found if not one.note]
    header = ["system", "entities", "papers", "cold s", "p50 s", "p95 s", "CPU s", "memory MB", "disk MB", "made in s"]
    rows = [
        [
            one.system,
            str(one.entities),
            str(one.papers),
            *(f"{value:.4f}" for value in (one.cold, one.p50, one.p95, one.cpu)),
            *(f"{value:.0f}" for value in (one.memory_mb, one.disk_mb)),
            f"{one.make:.0f}" if one.make else "",
        ]
        for one in measured
    ]
    ours = found[0].system
    notes = [f"{one.label}: {one.note}." for one in found if one.note]
    empty = [f"{one.label}: {one.empty} questions found nothing." for one in found if one.empty]
    print_page([*table(header, rows), *_growth(measured), *_ratios(measured, ours), *notes, *empty])
    write_figures(options.out, found)
    return 1 if any(one.note for one in found if one.system == ours) else 0


def _latencies(systems: Sequence[TimedSystem], work: Path, options: argparse.Namespace) -> Iterator[Latency]:
    """Measures size by size and alternates between the systems, so that the load of the machine affects both alike."""
    smaller: dict[str, Path] = {}
    for entities in sorted(set(options.entities)):
        papers = papers_with(entities, seed=options.seed)
        for system in systems:
            library = work / system.name.casefold() / f"{options.seed}-{entities}"
            job = TimingJob(
                step="ask", papers=papers, seed=options.seed, folder=str(library), questions=options.questions
            )
            latency = Latency(system=system.name, entities=entities, papers=papers)
            yield _measured(latency, system, job, smaller.get(system.name))
            smaller[system.name] = library


def _measured(latency: Latency, system: TimedSystem, job: TimingJob, smaller: Path | None) -> Latency:
    """Builds the library unless it exists, and asks it."""
    library, make = Path(job.folder), 0.0
    if not library.is_dir():
        part = library.with_name(f"{library.name}.part")
        _prepare_folder(part, smaller, extends=system.extends)
        reports, note = system.run(replace(job, step="make", folder=str(part)), StepReport)
        if note:
            return replace(latency, note=note)
        make = reports[0].seconds
        part.rename(library)
    reports, note = system.run(job, StepReport)
    if note:
        return replace(latency, note=note)
    report = reports[0]
    first, *others = report.asked
    p50, p95 = np.percentile([one.seconds for one in others], (50, 95)).tolist()
    return replace(
        latency,
        cold=report.seconds + first.seconds,
        p50=p50,
        p95=p95,
        cpu=fmean(one.cpu for one in others),
        memory_mb=report.memory_mb,
        disk_mb=report.disk_mb,
        make=make,
        empty=sum(not one.found for one in report.asked),
    )


def _prepare_folder(part: Path, smaller: Path | None, *, extends: bool) -> None:
    """Prepares the folder of a new library; if `extends`, from that of an interrupted run or from a smaller library."""
    with output_errors(part):
        if part.is_dir() and not extends:
            shutil.rmtree(part)
        if extends and not part.is_dir() and smaller is not None and smaller.is_dir():
            copy = part.with_name(f"{part.name}.copy")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(smaller, copy)
            copy.rename(part)
        part.mkdir(parents=True, exist_ok=True)


def _growth(measured: Sequence[Latency]) -> Iterator[str]:
    """Each system's largest library relative to its smallest, and twice the ratio of the logarithms of their sizes."""
    for system in dict.fromkeys(one.system for one in measured):
        sizes = [one for one in measured if one.system == system]
        first, last = sizes[0], sizes[-1]
        if last.entities > first.entities:
            bound = 2 * math.log(last.entities) / math.log(first.entities)
            yield (
                f"{system}, {first.entities} to {last.entities} entities: p50 {last.p50 / first.p50:.2f} times, "
                f"CPU {last.cpu / first.cpu:.2f} times (twice the logarithm: {bound:.2f})."
            )


def _ratios(measured: Sequence[Latency], ours: str) -> Iterator[str]:
    """The figures of the other systems at each size, as multiples of ours."""
    base = {one.entities: one for one in measured if one.system == ours}
    for one in measured:
        if one.system != ours and (own := base.get(one.entities)):
            yield (
                f"{one.label}: {one.p50 / own.p50:.1f} times our p50, {one.cpu / own.cpu:.1f} times our CPU, "
                f"{one.memory_mb / own.memory_mb:.1f} times our memory."
            )
