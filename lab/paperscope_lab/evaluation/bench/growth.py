"""`bench graph`: the cost of adding one more paper to libraries of growing size."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from paperscope_lab.evaluation.bench.common import (
    TimedSystem,
    add_out,
    add_peer,
    print_page,
    timed_systems,
    write_figures,
)
from paperscope_lab.evaluation.peers.timing import GrowthStep, TimingJob, neighbours
from paperscope_lab.evaluation.rendering import table

__all__ = ["DESCRIPTION", "HELP", "Checkpoint", "Growth", "add_options", "run"]

HELP = "the cost of one more paper in a growing library"
DESCRIPTION = (
    "Adds synthetic papers (60 chunks, 60 entities, 240 relations each) one by one, without a model's latency, and "
    "asks questions: seconds, memory and disk at 1, 10, 100, 1,000 papers, and the ratio of the last to the 10th. For "
    "comparison, LightRAG's ainsert_custom_kg for a limited time."
)
_CHECKPOINTS = (1, 10, 100, 1000)
_BASE_PAPER = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """The cost of one more paper at one library size: means over the papers `first` to `last` around it.

    Memory and disk use are measured at that size.
    """

    paper: int
    first: int
    last: int
    add: float
    add_cpu: float
    retrieve: float
    memory_mb: float
    disk_mb: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Growth:
    """The growth of a system's library: `papers` were added; `note` says why there are fewer than requested.

    The ratios are those of the last checkpoint to the one at 10 papers, 0 if either is missing.
    """

    name: str
    papers: int
    seconds: float
    checkpoints: tuple[Checkpoint, ...]
    note: str = ""

    def ratio(self, figure: str) -> float:
        """The ratio of `figure` (add, add_cpu, retrieve) at the last checkpoint to that at 10 papers."""
        early = next((getattr(point, figure) for point in self.checkpoints[:-1] if point.paper == _BASE_PAPER), 0.0)
        return float(getattr(self.checkpoints[-1], figure) / early) if early else 0.0


def add_options(graph: argparse.ArgumentParser) -> None:
    """Adds the options of `graph`."""
    graph.add_argument("--papers", type=int, default=_CHECKPOINTS[-1], metavar="N", help="how many (default: 1000)")
    graph.add_argument("--seed", type=int, default=0, help="determines the content of the papers")
    add_peer(graph, seconds=600)
    add_out(graph)


def run(options: argparse.Namespace) -> int:
    """Returns 0, or 1 if a paper was not added to our own library."""
    checkpoints = sorted({papers for papers in (*_CHECKPOINTS, options.papers) if papers <= options.papers})
    job = TimingJob(step="grow", papers=options.papers, seed=options.seed, checkpoints=tuple(checkpoints))
    grown = [_grow(system, job) for system in timed_systems(options)]
    header = ["system", "paper", "add s", "add CPU s", "retrieve s", "memory MB", "disk MB"]
    rows = [
        [
            growth.name,
            str(checkpoint.paper),
            *(f"{value:.4f}" for value in (checkpoint.add, checkpoint.add_cpu, checkpoint.retrieve)),
            f"{checkpoint.memory_mb:.0f}",
            f"{checkpoint.disk_mb:.1f}" if checkpoint.disk_mb else "",
        ]
        for growth in grown
        for checkpoint in growth.checkpoints
    ]
    print_page([*table(header, rows), *map(_line, grown)])
    figures = ("add", "add_cpu", "retrieve")
    ratios = [{figure: round(growth.ratio(figure), 3) for figure in figures} for growth in grown]
    write_figures(options.out, [{**asdict(one), "ratios": found} for one, found in zip(grown, ratios, strict=True)])
    return 0 if grown[0].papers == options.papers else 1


def _grow(system: TimedSystem, job: TimingJob) -> Growth:
    steps, note = system.run(job, GrowthStep)
    papers = sorted({*job.checkpoints, len(steps)})
    return Growth(
        name=system.name,
        papers=len(steps),
        seconds=round(sum(step.add + step.retrieve for step in steps), 3),
        checkpoints=tuple(_checkpoint(steps, paper) for paper in papers if 0 < paper <= len(steps)),
        note=note,
    )


def _checkpoint(steps: Sequence[GrowthStep], paper: int) -> Checkpoint:
    """The means over the neighbouring papers, which vary less on a busy machine than the figures of one paper."""
    near = [step for step in steps if step.paper in neighbours(paper)]
    return Checkpoint(
        paper=paper,
        first=near[0].paper,
        last=near[-1].paper,
        add=fmean(step.add for step in near),
        add_cpu=fmean(step.add_cpu for step in near),
        retrieve=fmean([step.retrieve for step in near if step.retrieve] or [0.0]),
        memory_mb=steps[paper - 1].memory_mb,
        disk_mb=steps[paper - 1].disk_mb,
    )


def _line(growth: Growth) -> str:
    line = f"{growth.name}: {growth.papers} papers in {growth.seconds:.0f} s"
    if ratio := growth.ratio("add"):
        line += (
            f"; paper {growth.checkpoints[-1].paper} to paper {_BASE_PAPER}: adding {ratio:.2f} times "
            f"(CPU {growth.ratio('add_cpu'):.2f}), retrieving {growth.ratio('retrieve'):.2f} times"
        )
    return f"{line}{f' ({growth.note})' if growth.note else ''}."
