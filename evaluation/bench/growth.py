"""`bench graph`: the cost of adding one more paper to libraries of growing size."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from evaluation.peers.client import PEERS_PYTHON, run_process
from evaluation.peers.systems import SETUP
from evaluation.peers.timing import GrowthStep, neighbours
from evaluation.rendering import table
from paperscope_core.files import write_atomically

if TYPE_CHECKING:
    from evaluation.bench.parse import Commands


__all__ = ["Growth", "Mark", "add_command"]


_MARKS = (1, 10, 100, 1000)
_BASE_MARK = 10
_PEER_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
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

    The ratios are those of the last mark to the one at 10 papers, 0 if either is missing.
    """

    name: str
    papers: int
    seconds: float
    marks: tuple[Mark, ...]
    note: str = ""

    def ratio(self, figure: str) -> float:
        """The ratio of `figure` (add, add_cpu, retrieve) at the last mark to that at 10 papers."""
        early = next((mark for mark in self.marks if mark.paper == _BASE_MARK), None)
        if early is None or self.marks[-1] is early:
            return 0.0
        return float(getattr(self.marks[-1], figure) / getattr(early, figure)) if getattr(early, figure) else 0.0


def add_command(commands: "Commands") -> None:
    """Adds the command `graph` and its options."""
    graph = commands.add_parser(
        "graph",
        help="the cost of one more paper in a growing library",
        description="Adds synthetic papers (60 chunks, 60 entities, 240 relations each) one by one, without a model's "
        "latency, and asks questions: seconds, memory and disk at 1, 10, 100, 1,000 papers, and the ratio of the last "
        "to the 10th. For comparison, LightRAG's ainsert_custom_kg for a limited time.",
    )
    graph.add_argument("--papers", type=int, default=_MARKS[-1], metavar="N", help="how many (default: 1000)")
    graph.add_argument("--seed", type=int, default=0, help="decides what the papers hold")
    graph.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON too")
    graph.add_argument(
        "--peers-python", type=Path, default=PEERS_PYTHON, metavar="FILE", help="the Python that has LightRAG"
    )
    graph.add_argument(
        "--peer-seconds", type=float, default=_PEER_SECONDS, metavar="S", help="LightRAG's time (default: 600; 0: none)"
    )
    graph.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Returns 0, or 1 if a paper was not added to our own library."""
    job = {"papers": options.papers, "seed": options.seed}
    ours = _run_system("Paperscope", Path(sys.executable), "evaluation.bench.synthetic_library", **job, timeout=None)
    grown = [ours]
    if options.peer_seconds > 0:
        module, seconds = "evaluation.peers.lightrag_library", options.peer_seconds
        grown.append(_run_system("LightRAG", options.peers_python, module, **job, timeout=seconds))
    sys.stdout.write(_page(grown))
    if options.out:
        write_atomically(options.out, json.dumps([*map(_json, grown)], indent=2).encode() + b"\n")
    return 0 if ours.papers == options.papers else 1


def _run_system(name: str, python: Path, module: str, *, papers: int, seed: int, timeout: float | None) -> Growth:
    if not python.is_file():
        return Growth(
            name=name, papers=0, seconds=0.0, marks=(), note=f"not installed: no {str(python)!r}; run {SETUP}"
        )
    marks = sorted({mark for mark in (*_MARKS, papers) if mark <= papers})
    with tempfile.TemporaryDirectory(prefix="paperscope-bench-") as folder:
        out = Path(folder) / "steps.jsonl"
        command = [str(python), "-m", module, "grow", str(out), str(papers), str(seed), *map(str, marks)]
        note = run_process(command, Path(folder), timeout)
        steps = _steps(out)
    return Growth(
        name=name,
        papers=len(steps),
        seconds=round(sum(step.add + step.retrieve for step in steps), 3),
        marks=tuple(_mark(steps, paper) for paper in sorted({*marks, len(steps)}) if 0 < paper <= len(steps)),
        note=note,
    )


def _steps(file: Path) -> list[GrowthStep]:
    """Returns the steps written, up to a line that is incomplete."""
    steps = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        try:
            steps.append(GrowthStep(**json.loads(line)))
        except json.JSONDecodeError:
            break
    return steps


def _mark(steps: Sequence[GrowthStep], paper: int) -> Mark:
    """The means over the neighbouring papers, which vary less on a busy machine than the figures of one paper."""
    near = [step for step in steps if step.paper in neighbours(paper)]
    asked = [step.retrieve for step in near if step.retrieve]
    return Mark(
        paper=paper,
        first=near[0].paper,
        last=near[-1].paper,
        add=fmean(step.add for step in near),
        add_cpu=fmean(step.add_cpu for step in near),
        retrieve=fmean(asked) if asked else 0.0,
        memory_mb=steps[paper - 1].memory_mb,
        disk_mb=steps[paper - 1].disk_mb,
    )


def _page(grown: Sequence[Growth]) -> str:
    header = ["system", "paper", "add s", "add CPU s", "retrieve s", "memory MB", "disk MB"]
    rows = [
        [
            growth.name,
            str(mark.paper),
            *(f"{value:.4f}" for value in (mark.add, mark.add_cpu, mark.retrieve)),
            *_sizes(mark),
        ]
        for growth in grown
        for mark in growth.marks
    ]
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        "\n".join([*table(header, rows), *map(_line, grown), f"Load of the machine: {load}, {os.cpu_count()} cores."])
        + "\n"
    )


def _sizes(mark: Mark) -> list[str]:
    return [f"{mark.memory_mb:.0f}", f"{mark.disk_mb:.1f}" if mark.disk_mb else ""]


def _line(growth: Growth) -> str:
    told = f"{growth.name}: {growth.papers} papers in {growth.seconds:.0f} s"
    if ratio := growth.ratio("add"):
        told += (
            f"; paper {growth.marks[-1].paper} to paper {_BASE_MARK}: adding {ratio:.2f} times "
            f"(CPU {growth.ratio('add_cpu'):.2f}), retrieving {growth.ratio('retrieve'):.2f} times"
        )
    return f"{told}{f' ({growth.note})' if growth.note else ''}."


def _json(growth: Growth) -> dict[str, object]:
    ratios = {figure: round(growth.ratio(figure), 3) for figure in ("add", "add_cpu", "retrieve")}
    return {**asdict(growth), "ratios": ratios}
