"""`bench serve`: how many questions the HTTP service answers in a second, beside the same library asked directly."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from evaluation.bench.clients import Load, ask_directly, ask_over_http, served
from evaluation.gold.files import json_lines
from evaluation.rendering import table
from paperscope_core.errors import GoldFileError, InputError
from paperscope_core.files import write_atomically

if TYPE_CHECKING:
    from evaluation.bench.speed import Commands


__all__ = ["Served", "add_command"]


_CLIENTS = (1, 8, 32)
_PATHS = {"query": "/v1/query", "retrieve": "/v1/retrieve"}
_DIRECT = "Library"


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """What so many clients at once got from one way in; memory is the most that the service held so far."""

    way: str
    clients: int
    load: Load
    memory_mb: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    question: str


def add_command(commands: "Commands") -> None:
    """The command `serve` and its options."""
    serve = commands.add_parser(
        "serve",
        help="requests a second and latency of the HTTP service",
        description="Starts the service over a library and lets 1, 8 and 32 clients ask it, each the next question as "
        "soon as the last is answered; beside it the same library asked in one process without HTTP.",
    )
    serve.add_argument("--library", type=Path, required=True, metavar="DIR", help="a library with papers in it")
    serve.add_argument(
        "--questions", type=Path, required=True, metavar="FILE", help="JSON lines with the key 'question'"
    )
    serve.add_argument("--clients", type=int, nargs="+", default=_CLIENTS, metavar="N", help="how many ask at once")
    serve.add_argument(
        "--seconds", type=float, default=20.0, metavar="S", help="how long each load lasts (default: 20)"
    )
    serve.add_argument("--only", nargs="+", choices=[*_PATHS], default=[*_PATHS], metavar="WAY", help="query, retrieve")
    serve.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON too")
    serve.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """The exit code: 0, or 1 where a request failed."""
    questions = _questions(options.questions)
    found = []
    for way in options.only:
        direct = ask_directly(options.library, questions, retrieve=way == "retrieve", seconds=options.seconds)
        found.append(Served(way=f"{_DIRECT} {way}", clients=1, load=direct))
    with served(options.library) as service:
        for way in options.only:
            for clients in options.clients:
                load = ask_over_http(service.address + _PATHS[way], questions, clients=clients, seconds=options.seconds)
                found.append(Served(way=way, clients=clients, load=load, memory_mb=service.memory_mb()))
    sys.stdout.write(_page(found))
    if options.out:
        write_atomically(options.out, json.dumps([*map(asdict, found)], indent=2).encode() + b"\n")
    return 1 if any(one.load.failed for one in found) else 0


def _questions(file: Path) -> list[str]:
    bad: list[GoldFileError] = []
    found = [row.question for _, row in json_lines(file, TypeAdapter(_Row), bad=bad)]
    if bad:
        raise bad[0]
    if not found:
        raise InputError(f'{file}: no question in it; each line must be like {{"question": "…"}}')
    return found


def _page(found: Sequence[Served]) -> str:
    header = ["way", "clients", "answers", "failed", "a second", "p50 s", "p95 s", "most s", "memory MB"]
    rows = [
        [
            one.way,
            str(one.clients),
            str(one.load.answers),
            str(one.load.failed),
            f"{one.load.rate:.1f}",
            *(f"{value:.3f}" for value in (one.load.p50, one.load.p95, one.load.most)),
            f"{one.memory_mb:.0f}" if one.memory_mb else "",
        ]
        for one in found
    ]
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        "\n".join([*table(header, rows), *_beside(found), f"Load of the machine: {load}, {os.cpu_count()} cores."])
        + "\n"
    )


def _beside(found: Sequence[Served]) -> list[str]:
    """The best rate over HTTP, as a multiple of that of the library itself."""
    lines = []
    for way in _PATHS:
        direct = [one.load.rate for one in found if one.way == f"{_DIRECT} {way}"]
        http = [one.load.rate for one in found if one.way == way]
        if direct and http and direct[0]:
            lines.append(f"{way}: at best {max(http) / direct[0]:.2f} times what the library itself does in a second.")
    return lines
