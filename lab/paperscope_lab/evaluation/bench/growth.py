"""`bench graph`: the cost of adding one more paper to a library that grows."""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.bench.synthetic import Times, megabytes, open_library, questions_over, synthetic_paper
from paperscope_lab.evaluation.peers.memory import peak_memory_mb
from paperscope_lab.evaluation.rendering import table

__all__ = ["DESCRIPTION", "HELP", "Checkpoint", "add_options", "ratios", "run"]

HELP = "the cost of one more paper in a growing library"
DESCRIPTION = (
    "Adds synthetic papers (60 chunks, 60 entities, 240 relations each) one by one, without a model's latency, and "
    "asks questions: seconds, memory and disk at 1, 10, 100, 1,000 papers, and the ratio of the last to the 10th."
)
_CHECKPOINTS = (1, 10, 100, 1000)
_BASE_PAPER = 10
# Questions that are asked at a checkpoint: enough for a mean, and fast compared with adding papers.
_QUESTIONS = 25


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """The cost of one more paper at one library size: means over the papers from half of this size on, so that work
    that is done from time to time counts with its frequency.

    Memory and disk use are measured at that size.
    """

    paper: int
    add: float
    add_cpu: float
    retrieve: float
    memory_mb: float
    disk_mb: float


def add_options(graph: argparse.ArgumentParser) -> None:
    """Add the options of `graph`."""
    graph.add_argument("--papers", type=int, default=_CHECKPOINTS[-1], metavar="N", help="how many (default: 1000)")
    graph.add_argument("--seed", type=int, default=0, help="determines the content of the papers")
    add_out(graph)


def run(options: argparse.Namespace) -> int:
    """Return 0."""
    sizes = sorted({papers for papers in (*_CHECKPOINTS, options.papers) if papers <= options.papers})
    with tempfile.TemporaryDirectory(prefix="paperscope-bench-") as folder:
        checkpoints = _grow(Path(folder) / "library", sizes, seed=options.seed)
    header = ["paper", "add s", "add CPU s", "retrieve s", "memory MB", "disk MB"]
    rows = [
        [
            str(one.paper),
            *(f"{value:.4f}" for value in (one.add, one.add_cpu, one.retrieve)),
            f"{one.memory_mb:.0f}",
            f"{one.disk_mb:.1f}",
        ]
        for one in checkpoints
    ]
    found = ratios(checkpoints)
    shown = ", ".join(f"{name} {ratio:.2f} times" for name, ratio in found.items())
    print_page([*table(header, rows), *([f"Paper {sizes[-1]} to paper {_BASE_PAPER}: {shown}."] if found else [])])
    write_figures(options.out, {"checkpoints": list(map(asdict, checkpoints)), "ratios": found})
    return 0


def _grow(folder: Path, sizes: Sequence[int], *, seed: int) -> list[Checkpoint]:
    checkpoints = []
    added: list[Times] = []
    with open_library(folder) as library:
        for number in range(1, sizes[-1] + 1):
            added.append(library.add(synthetic_paper(number, seed=seed)))
            if number not in sizes:
                continue
            asked = [library.retrieve(question)[1] for question in questions_over(number, count=_QUESTIONS, seed=seed)]
            near = added[number // 2 :]
            checkpoints.append(
                Checkpoint(
                    paper=number,
                    add=fmean(one.wall for one in near),
                    add_cpu=fmean(one.cpu for one in near),
                    retrieve=fmean(one.wall for one in asked),
                    memory_mb=peak_memory_mb(),
                    disk_mb=megabytes(folder),
                )
            )
    return checkpoints


def ratios(checkpoints: Sequence[Checkpoint]) -> dict[str, float]:
    """Return the figures of the last checkpoint as multiples of those at 10 papers; nothing if it is no later one."""
    early = next((one for one in checkpoints[:-1] if one.paper == _BASE_PAPER), None)
    if early is None:
        return {}
    late = checkpoints[-1]
    return {name: round(getattr(late, name) / getattr(early, name), 3) for name in ("add", "add_cpu", "retrieve")}
