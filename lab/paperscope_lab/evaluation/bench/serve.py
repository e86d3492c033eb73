"""`bench serve`: requests per second and latency of the HTTP service."""

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import numpy as np

from paperscope_core.errors import PaperscopeError
from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.peers.memory import peak_memory_mb
from paperscope_lab.evaluation.rendering import table
from service.batch import Question, load_questions

__all__ = ["DESCRIPTION", "HELP", "Load", "ServedLoad", "add_options", "processes", "run"]

HELP = "requests a second and latency of the HTTP service"
DESCRIPTION = (
    "Starts the service over a library and lets 1, 8 and 32 clients ask it, each the next question as soon as the last "
    "is answered."
)
_START_TIMEOUT = 60.0
_TIMEOUT = 120.0
_CLIENTS = (1, 8, 32)
_PATHS = {"query": "/v1/query", "retrieve": "/v1/retrieve"}
# Asks a question; returns whether it was answered.
_Client = Callable[[str], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Answers, failures and answers per second; median, 95th percentile and maximum of the seconds per answer."""

    answers: int
    failed: int
    rate: float
    p50: float
    p95: float
    most: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedLoad:
    """The load of several clients on one endpoint; memory is the service's peak memory so far, and `cpu_ms` the
    milliseconds of processor time that it took for an answer, in all its processes (0 if the system does not say)."""

    way: str
    clients: int
    load: Load
    memory_mb: float
    cpu_ms: float


def add_options(serve: argparse.ArgumentParser) -> None:
    """Add the options of `serve`."""
    serve.add_argument("--library", type=Path, required=True, metavar="DIR", help="a library with papers in it")
    serve.add_argument("--questions", type=Path, required=True, metavar="FILE", help="a file of questions")
    serve.add_argument("--clients", type=int, nargs="+", default=_CLIENTS, metavar="N", help="how many ask at once")
    serve.add_argument(
        "--seconds", type=float, default=20.0, metavar="S", help="how long each load lasts (default: 20)"
    )
    serve.add_argument("--workers", type=int, default=1, metavar="N", help="processes that answer (default: 1)")
    add_out(serve)


def run(options: argparse.Namespace) -> int:
    """Return 0, or 1 if a request failed. Raises QuestionFileError."""
    questions = [question.text for question in load_questions(options.questions) if isinstance(question, Question)]
    found = []
    with _serving(options.library, workers=options.workers) as (address, process):
        for way, path in _PATHS.items():
            for clients in options.clients:
                with ExitStack() as stack:
                    asking = [_http_client(address + path, stack) for _ in range(clients)]
                    # The first question loads models and caches, and is not counted.
                    asking[0](questions[0])
                    before = _cpu_seconds(process)
                    load = _measure_load(asking, questions, seconds=options.seconds)
                used = 1000 * (_cpu_seconds(process) - before) / max(load.answers, 1)
                memory = sum(map(peak_memory_mb, processes(process)))
                found.append(ServedLoad(way=way, clients=clients, load=load, memory_mb=memory, cpu_ms=used))
    print_page(_table(found))
    write_figures(options.out, found)
    return 1 if any(one.load.failed for one in found) else 0


@contextmanager
def _serving(library: Path, *, workers: int) -> Iterator[tuple[str, int]]:
    """Start `paperscope serve` on a free port, wait until it is ready, and yield its address and process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "paperscope", "serve", "--library", str(library), "--port", str(port)]
    command += ["--workers", str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 # our own
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(f"{address}/readyz", process)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx2.get(url, timeout=_TIMEOUT).is_success:
                return
        except httpx2.TransportError:
            time.sleep(0.1)
    raise PaperscopeError("`paperscope serve` did not start; run it by hand to see why")


def processes(process: int) -> list[int]:
    """Return a process and its descendants."""
    found = [process]
    for one in found:
        for file in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, file.read_text().split())
    return found


def _cpu_seconds(process: int) -> float:
    """Return the processor time of a process, its descendants and those that have ended (Linux only; 0 elsewhere)."""
    ticks = 0
    for one in processes(process):
        file = Path(f"/proc/{one}/stat")
        if file.is_file():
            # The name before the closing parenthesis may contain spaces. utime, stime, and both of ended children.
            ticks += sum(map(int, file.read_text().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _http_client(url: str, stack: ExitStack) -> _Client:
    """Return a client with one persistent connection, from the standard library, which takes the least CPU time."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_TIMEOUT)
    stack.callback(connection.close)

    def ask(question: str) -> bool:
        body = json.dumps({"question": question})
        try:
            connection.request("POST", address.path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            return False
        return response.status == http.client.OK

    return ask


def _measure_load(clients: Sequence[_Client], questions: Sequence[str], *, seconds: float) -> Load:
    """Run each client in a thread."""
    taken: list[tuple[bool, float]] = []
    numbers = count()
    begun = time.perf_counter()

    def work(ask: _Client) -> None:
        while time.perf_counter() < begun + seconds:
            question = questions[next(numbers) % len(questions)]
            started = time.perf_counter()
            right = ask(question)
            taken.append((right, time.perf_counter() - started))

    with ThreadPoolExecutor(len(clients)) as pool:
        list(pool.map(work, clients))
    wall = time.perf_counter() - begun
    good = [one for right, one in taken if right]
    p50, p95, most = np.percentile(good or [0.0], (50, 95, 100)).tolist()
    return Load(answers=len(good), failed=len(taken) - len(good), rate=len(good) / wall, p50=p50, p95=p95, most=most)


def _table(found: Sequence[ServedLoad]) -> list[str]:
    header = ["way", "clients", "answers", "failed", "a second", "p50 s", "p95 s", "most s", "CPU ms", "memory MB"]
    rows = [
        [
            one.way,
            str(one.clients),
            str(one.load.answers),
            str(one.load.failed),
            f"{one.load.rate:.1f}",
            *(f"{value:.3f}" for value in (one.load.p50, one.load.p95, one.load.most)),
            f"{one.cpu_ms:.1f}",
            f"{one.memory_mb:.0f}",
        ]
        for one in found
    ]
    return table(header, rows)
