"""Clients that ask one question after the other: of a running service, or of a library in this process."""

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

from evaluation.memory import peak_memory_mb
from paperscope.library import Library
from paperscope_core.errors import PaperscopeError

__all__ = ["Load", "Service", "ask_directly", "ask_over_http", "served"]


_STARTING = 60.0
_TIMEOUT = 120.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Answers, failures, answers a second, and the seconds that half, 95 % and all of the answers took at the most."""

    answers: int
    failed: int
    rate: float
    p50: float
    p95: float
    most: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """A service that runs as a process of its own."""

    address: str
    process: int

    def memory_mb(self) -> float:
        """The most that it has held, in megabytes (Linux; 0 elsewhere)."""
        return peak_memory_mb(self.process)


@contextmanager
def served(library: Path) -> Iterator[Service]:
    """`paperscope serve` over a library, on a free port, ready. Raises PaperscopeError where it does not start."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "paperscope", "serve", "--library", str(library), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 # our own
    try:
        _wait(port, process)
        yield Service(address=f"http://127.0.0.1:{port}", process=process.pid)
    finally:
        process.terminate()
        process.wait()


def _wait(port: int, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _STARTING
    while time.monotonic() < end and process.poll() is None:
        try:
            if _get(port, "/readyz") == http.client.OK:
                return
        except OSError:
            time.sleep(0.1)
    raise PaperscopeError("`paperscope serve` did not get ready; run it by hand to see why")


def _get(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def ask_over_http(url: str, questions: Sequence[str], *, clients: int, seconds: float) -> Load:
    """So many clients ask for so long, each over a connection that stays open."""
    address = urlsplit(url)

    def client() -> Callable[[str], bool]:
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_TIMEOUT)
        open_ones.callback(connection.close)

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

    with ExitStack() as open_ones:
        return _load([client() for _ in range(clients)], questions, seconds=seconds)


def ask_directly(library: Path, questions: Sequence[str], *, retrieve: bool, seconds: float) -> Load:
    """One client in this process asks the library for so long."""
    with Library.open(library) as opened:
        work: Callable[[str], object] = opened.retrieve if retrieve else opened.ask

        def ask(question: str) -> bool:
            try:
                work(question)
            except PaperscopeError:
                return False
            return True

        return _load([ask], questions, seconds=seconds)


def _load(clients: Sequence[Callable[[str], bool]], questions: Sequence[str], *, seconds: float) -> Load:
    """Each client works in a thread. The first question warms what is loaded once, and is not counted."""
    clients[0](questions[0])
    taken: list[tuple[bool, float]] = []
    numbers = count()
    begun = time.perf_counter()

    def work(ask: Callable[[str], bool]) -> None:
        while time.perf_counter() < begun + seconds:
            question = questions[next(numbers) % len(questions)]
            started = time.perf_counter()
            right = ask(question)
            taken.append((right, time.perf_counter() - started))

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall = time.perf_counter() - begun
    good = [one for right, one in taken if right]
    cuts = quantiles(good, n=20, method="inclusive") if len(good) > 1 else [0.0] * 19
    return Load(
        answers=len(good),
        failed=len(taken) - len(good),
        rate=len(good) / wall,
        p50=cuts[9],
        p95=cuts[18],
        most=max(good, default=0.0),
    )
