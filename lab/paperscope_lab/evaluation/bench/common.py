"""What the benchmarks share: their output, and the systems whose libraries of synthetic papers are timed."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from paperscope_core.files import write_atomically
from paperscope_lab.evaluation.peers.client import PEERS_PYTHON, run_module
from paperscope_lab.evaluation.peers.timing import TimingJob

__all__ = ["TimedSystem", "add_out", "add_peer", "print_page", "timed_systems", "write_figures"]

Report = TypeVar("Report")


@dataclass(kw_only=True, slots=True)
class TimedSystem:
    """A system whose libraries a process of its own makes and asks, with `seconds` left for it (None: no limit).

    `extends` says that a library can be made from a smaller one.
    """

    name: str
    python: Path
    module: str
    extends: bool
    seconds: float | None = None

    def run(self, job: TimingJob, kind: type[Report]) -> tuple[list[Report], str]:
        """Returns the reports of the process, and why it failed, or ""."""
        if self.seconds is not None and self.seconds <= 0:
            return [], "no time left"
        started = time.monotonic()
        reports, note = run_module(self.module, job, kind, python=self.python, timeout=self.seconds)
        if self.seconds is not None:
            self.seconds -= time.monotonic() - started
        return reports, note


def timed_systems(options: argparse.Namespace, *, storages: bool = False) -> list[TimedSystem]:
    """Paperscope, and LightRAG unless it gets no time.

    With `storages`, LightRAG also with its FAISS storage, and on our storages.
    """
    own = Path(sys.executable)
    systems = [
        TimedSystem(
            name="Paperscope", python=own, module="paperscope_lab.evaluation.bench.synthetic_library", extends=True
        )
    ]
    if (seconds := options.peer_seconds) > 0:
        peers = {"LightRAG": "paperscope_lab.evaluation.peers.lightrag_library"}
        if storages:
            peers["LightRAG-FAISS"] = "paperscope_lab.evaluation.peers.lightrag_library_faiss"
        systems += [
            TimedSystem(name=name, python=options.peers_python, module=module, extends=False, seconds=seconds)
            for name, module in peers.items()
        ]
    if storages and seconds > 0:
        module = "paperscope_lab.evaluation.bench.lightrag_on_library"
        systems.append(TimedSystem(name="LightRAG-on-ours", python=own, module=module, extends=True, seconds=seconds))
    return systems


def add_peer(command: argparse.ArgumentParser, *, seconds: float) -> None:
    """Adds the options `--peers-python` and `--peer-seconds`."""
    command.add_argument(
        "--peers-python", type=Path, default=PEERS_PYTHON, metavar="FILE", help="the Python that has LightRAG"
    )
    command.add_argument(
        "--peer-seconds",
        type=float,
        default=seconds,
        metavar="S",
        help=f"LightRAG's time in all (default: {seconds:.0f}; 0: none)",
    )


def add_out(command: argparse.ArgumentParser) -> None:
    """Adds the option `--out`."""
    command.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON too")


def print_page(lines: Iterable[str]) -> None:
    """Prints the lines and the load of the machine, which affects the figures."""
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    sys.stdout.write("\n".join([*lines, f"Load of the machine: {load}, {os.cpu_count()} cores."]) + "\n")


def write_figures(file: Path | None, figures: object) -> None:
    """Writes figures, which may contain dataclasses, as JSON. Raises OutputError."""
    if file:
        write_atomically(file, json.dumps(figures, indent=2, default=_fields).encode() + b"\n")


def _fields(figures: Any) -> dict[str, object]:  # noqa: ANN401 # what is no JSON
    """`asdict` would count the items of a Counter."""
    return {field.name: getattr(figures, field.name) for field in fields(figures)}
