"""`bench query`: retrieval latency in libraries of growing size."""

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, quantiles
from typing import TYPE_CHECKING

from evaluation.peers.client import PEERS_PYTHON, run_process
from evaluation.peers.systems import SETUP
from evaluation.peers.timing import StepReport, papers_with
from evaluation.rendering import table
from paperscope_core.codec import from_json
from paperscope_core.errors import InputError
from paperscope_core.files import output_errors, write_atomically

if TYPE_CHECKING:
    from evaluation.bench.parse import Commands


__all__ = ["Latency", "add_command"]


_ENTITIES = (1_000, 20_000, 200_000)
_QUESTIONS = 60
_LEAST_QUESTIONS = 3
_PEER_SECONDS = 1800.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """The retrieval latency of a system at one library size, in seconds.

    `cold` is the first question after opening; `p50` and `p95` are the median and the 95th percentile of the others,
    and `cpu` is their mean CPU time. `make` is the time to build the library, 0 if it existed. `note` says why there
    are no figures.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _System:
    """A system: the interpreter and module that build and query its libraries, and the deadline (None: no deadline).

    `grows` says that its library can be extended from a smaller one.
    """

    name: str
    python: Path
    module: str
    grows: bool
    until: float | None = None


def add_command(commands: "Commands") -> None:
    """Adds the command `query` and its options."""
    query = commands.add_parser(
        "query",
        help="how long retrieval takes in a library of 1,000 to 200,000 entities",
        description="Makes libraries of synthetic papers and asks them seeded questions that name two entities, one, "
        "or none, without a model's latency: seconds of the first question, p50, p95, CPU seconds and memory at each "
        "size. For comparison, LightRAG's aquery_data in mode mix over the same papers, for a limited time.",
    )
    query.add_argument("--entities", type=int, nargs="+", default=_ENTITIES, metavar="N", help="sizes of the libraries")
    query.add_argument("--questions", type=int, default=_QUESTIONS, metavar="N", help="at each size (default: 60)")
    query.add_argument("--seed", type=int, default=0, help="decides what papers and questions hold")
    query.add_argument("--work", type=Path, metavar="DIR", help="keep the libraries here; a second run starts there")
    query.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON too")
    query.add_argument(
        "--peers-python", type=Path, default=PEERS_PYTHON, metavar="FILE", help="the Python that has LightRAG"
    )
    query.add_argument(
        "--peer-seconds",
        type=float,
        default=_PEER_SECONDS,
        metavar="S",
        help="LightRAG's time for all sizes (default: 1800; 0: none)",
    )
    query.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Returns 0, or 1 if our own library could not be queried."""
    if options.questions < _LEAST_QUESTIONS:
        raise InputError(f"--questions {options.questions}: too few to compute percentiles; ask 3 or more")
    sides = [
        _System(name="Paperscope", python=Path(sys.executable), module="evaluation.bench.synthetic_library", grows=True)
    ]
    if options.peer_seconds > 0:
        until = time.monotonic() + options.peer_seconds
        module = "evaluation.peers.lightrag_library"
        sides.append(_System(name="LightRAG", python=options.peers_python, module=module, grows=False, until=until))
    with tempfile.TemporaryDirectory(prefix="paperscope-bench-") as folder:
        found = _sizes(sides, (options.work or Path(folder)).resolve(), options)
    sys.stdout.write(_page(found))
    if options.out:
        write_atomically(options.out, json.dumps([*map(asdict, found)], indent=2).encode() + b"\n")
    return 1 if any(one.note for one in found if one.system == sides[0].name) else 0


def _sizes(sides: Sequence[_System], work: Path, options: argparse.Namespace) -> list[Latency]:
    """Measures size by size and alternates between the systems, so that the load of the machine affects both alike."""
    found: list[Latency] = []
    smaller: dict[str, Path] = {}
    for entities in sorted(set(options.entities)):
        papers = papers_with(entities, seed=options.seed)
        for side in sides:
            library = work / side.name.casefold() / f"{options.seed}-{entities}"
            before = smaller.get(side.name) if side.grows else None
            found.append(_latency(side, library, before, entities=entities, papers=papers, options=options))
            smaller[side.name] = library
    return found


def _latency(
    side: _System, library: Path, smaller: Path | None, *, entities: int, papers: int, options: argparse.Namespace
) -> Latency:
    nothing = Latency(system=side.name, entities=entities, papers=papers)
    if not side.python.is_file():
        return _noted(nothing, f"not installed: no {str(side.python)!r}; run {SETUP}")
    made = 0.0
    if not library.is_dir():
        part = library.with_name(f"{library.name}.part")
        _prepare_folder(part, smaller, goes_on=side.grows)
        told = _run_step(side, "make", str(papers), str(options.seed), str(part))
        if isinstance(told, str):
            return _noted(nothing, f"not made: {told}")
        made = told.seconds
        part.rename(library)
    told = _run_step(side, "ask", str(papers), str(options.seed), str(library), str(options.questions))
    return _noted(nothing, told) if isinstance(told, str) else _measured(nothing, told, made=made)


def _prepare_folder(part: Path, smaller: Path | None, *, goes_on: bool) -> None:
    """Prepares the folder of a new library, starting from that of an interrupted run or from a smaller library."""
    with output_errors(part):
        if part.is_dir() and not goes_on:
            shutil.rmtree(part)
        if not part.is_dir() and smaller is not None and smaller.is_dir():
            copy = part.with_name(f"{part.name}.copy")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(smaller, copy)
            copy.rename(part)
        part.mkdir(parents=True, exist_ok=True)


def _run_step(side: _System, step: str, papers: str, seed: str, folder: str, *more: str) -> StepReport | str:
    """Returns the report of a process, or why there is none."""
    left = None if side.until is None else side.until - time.monotonic()
    if left is not None and left <= 0:
        return "no time left"
    with tempfile.TemporaryDirectory(prefix="paperscope-bench-") as home:
        out = Path(home) / "told.json"
        command = [str(side.python), "-m", side.module, step, str(out), papers, seed, folder, *more]
        if note := run_process(command, Path(home), left):
            return note
        return from_json(StepReport, out.read_text(encoding="utf-8"))


def _noted(latency: Latency, note: str) -> Latency:
    return Latency(system=latency.system, entities=latency.entities, papers=latency.papers, note=note)


def _measured(latency: Latency, told: StepReport, *, made: float) -> Latency:
    first, *others = told.asked
    cuts = quantiles((one.seconds for one in others), n=20, method="inclusive")
    return Latency(
        system=latency.system,
        entities=latency.entities,
        papers=latency.papers,
        cold=told.seconds + first.seconds,
        p50=cuts[9],
        p95=cuts[18],
        cpu=fmean(one.cpu for one in others),
        memory_mb=told.memory_mb,
        disk_mb=told.disk_mb,
        make=made,
        empty=sum(not one.found for one in told.asked),
    )


def _page(found: Sequence[Latency]) -> str:
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
        for one in found
        if not one.note
    ]
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    lines = [*_growth(found), *_ratios(found), *(f"{_label(one)}: {one.note}." for one in found if one.note)]
    lines += [f"{_label(one)}: {one.empty} questions found nothing." for one in found if one.empty]
    return "\n".join([*table(header, rows), *lines, f"Load of the machine: {load}, {os.cpu_count()} cores."]) + "\n"


def _growth(found: Sequence[Latency]) -> list[str]:
    """Each system's largest library relative to its smallest, and twice the ratio of the logarithms of their sizes."""
    lines = []
    for system in dict.fromkeys(one.system for one in found):
        known = [one for one in found if one.system == system and not one.note]
        if len(known) > 1:
            first, last = known[0], known[-1]
            bound = 2 * math.log(last.entities) / math.log(first.entities)
            lines.append(
                f"{system}, {first.entities} to {last.entities} entities: p50 {last.p50 / first.p50:.2f} times, "
                f"CPU {last.cpu / first.cpu:.2f} times (twice the logarithm: {bound:.2f})."
            )
    return lines


def _ratios(found: Sequence[Latency]) -> list[str]:
    """The figures of the other systems at each size, as multiples of ours."""
    ours = {one.entities: one for one in found if one.system == found[0].system and not one.note}
    return [
        f"{_label(one)}: {one.p50 / ours[one.entities].p50:.1f} times our p50, {one.cpu / ours[one.entities].cpu:.1f} "
        f"times our CPU, {one.memory_mb / ours[one.entities].memory_mb:.1f} times our memory."
        for one in found
        if one.system != found[0].system and not one.note and one.entities in ours
    ]


def _label(latency: Latency) -> str:
    return f"{latency.system}, {latency.entities} entities"
