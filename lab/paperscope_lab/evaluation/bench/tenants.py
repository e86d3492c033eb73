"""`bench tenants`: how much a tenant whose papers and questions are hostile slows another one."""

import argparse
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import numpy as np

from paperscope_core.errors import PaperscopeError
from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.bench.serve import add_questions, read_questions, serving
from paperscope_lab.evaluation.rendering import table

__all__ = ["DESCRIPTION", "HELP", "Tenants", "Times", "add_options", "run"]

HELP = "how much a hostile tenant slows another one"
DESCRIPTION = (
    "Starts the service with two keys. One tenant asks questions and uploads notes at a fixed pace: first alone, then "
    "while the other one uploads texts on which readers take longest, and asks about them, without a pause. Fails if a "
    "95th percentile is more than twice the figure without the other tenant, or if a request fails."
)
MOST = 2.0
"""The greatest ratio of the 95th percentiles with and without the other tenant."""

_TIMEOUT = 310.0
_QUERY_SECONDS, _UPLOAD_SECONDS = 1.0, 4.0
_JOB_WAIT = 60.0
# Jobs that the hostile tenant keeps waiting, and its questions at once.
_WAITING, _ASKING = 8, 8
# A text of 99 KB was once read without limits.
_SIZE = 99_000
# Numbers, words, names, brackets, tables and markup.
_TEXTS = {
    "txt": ("0", "AaBbCc", "a-", "1.5, ", "F1 is 0.5 and ", "We use BERT for parsing. ", "A.B. ", "Abc Def (AD) "),
    "md": ("|a|1|\n", "[1, ", "Figure 1: a\n\n", "# a\n\n", "*a ", "1  2  3\n"),
    "html": ("<b>", "<table><tr><td>", "<p>a", "<tr><td>1</td></tr>"),
}
_QUESTIONS = (
    "What is the highest number?",
    "What are the numbers?",
    "Which names occur, and what is the difference between the first and the last?",
    "What is {start}?",
    "How does {start} compare with BERT?",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Requests, failures, and percentiles of the seconds of the requests that did not fail."""

    requests: int
    failed: int
    p50: float
    p95: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenants:
    """The times of one tenant's requests without and with the other tenant."""

    way: str
    without: Times
    beside: Times

    @property
    def ratio(self) -> float:
        """The ratio of the 95th percentiles."""
        return self.beside.p95 / self.without.p95 if self.without.p95 else math.inf


@dataclass(kw_only=True)
class _Tenant:
    """Calls the service with one key, from any thread."""

    client: httpx2.Client
    notes: Iterator[int] = field(default_factory=count)

    def ask(self, question: str) -> bool:
        """Returns whether the question was answered."""
        return self.client.post("/v1/query", json={"question": question}).is_success

    def upload(self, name: str, data: bytes) -> str:
        """The id of the job; "" if it is refused."""
        response = self.client.post("/v1/papers", files={"file": (name, data)})
        return str(response.json()["id"]) if response.is_success else ""

    def has_succeeded(self, job: str) -> bool:
        """Waits for the end of a job; returns whether it succeeded."""
        while True:
            found = self.client.get(f"/v1/jobs/{job}", params={"wait": _JOB_WAIT}).json()
            if found["state"] in ("succeeded", "failed", "cancelled"):
                return bool(found["state"] == "succeeded")

    def add_note(self) -> bool:
        """Adds a small paper; returns whether it was added."""
        number = next(self.notes)
        note = f"# Note {number}\n\nThe tagger T{number} has an F1 of {number % 100}.5 on CoNLL.\n"
        job = self.upload(f"note-{number}.md", note.encode())
        return bool(job) and self.has_succeeded(job)


def add_options(tenants: argparse.ArgumentParser) -> None:
    """Adds the options of `tenants`."""
    tenants.add_argument(
        "--minutes", type=float, default=5.0, metavar="M", help="how long each of the two phases lasts (default: 5)"
    )
    tenants.add_argument(
        "papers", type=Path, nargs="+", metavar="FILE", help="papers of the tenant whose requests are timed"
    )
    add_questions(tenants)
    add_out(tenants)


def run(options: argparse.Namespace) -> int:
    """Returns 0, or 1 if a request failed or a ratio is too high."""
    seconds, questions = 60.0 * options.minutes, read_questions(options.questions)
    with TemporaryDirectory() as folder, _two_tenants(Path(folder)) as (measured, hostile):
        for paper in options.papers:
            if not measured.has_succeeded(measured.upload(paper.name, paper.read_bytes())):
                raise PaperscopeError(f"{paper} was not added")
        work = _work(measured, questions)
        for question in questions:
            measured.ask(question)
        measured.add_note()
        without = _measure(work, seconds=seconds)
        with _flooding(hostile):
            # The papers that it asks about must be there.
            time.sleep(min(30.0, seconds / 4))
            beside = _measure(work, seconds=seconds)
    found = [Tenants(way=way, without=without[way], beside=beside[way]) for way in work]
    print_page(_table(found))
    write_figures(options.out, found)
    failed = any(times.failed for one in found for times in (one.without, one.beside))
    return 1 if failed or any(one.ratio > MOST for one in found) else 0


@contextmanager
def _two_tenants(folder: Path) -> Iterator[tuple[_Tenant, _Tenant]]:
    environment = {"PAPERSCOPE_SERVICE__KEYS": str(folder / "keys.json")}
    secrets = [_create_key(folder / name, environment) for name in ("measured", "hostile")]
    with serving(folder / "none", environment=environment) as (address, _):
        clients = [
            httpx2.Client(base_url=address, headers={"X-API-Key": secret}, timeout=_TIMEOUT) for secret in secrets
        ]
        with clients[0], clients[1]:
            yield _Tenant(client=clients[0]), _Tenant(client=clients[1])


def _create_key(library: Path, environment: Mapping[str, str]) -> str:
    """The secret of a new key for a library."""
    command = [sys.executable, "-m", "paperscope", "keys", "create", library.name, "--library", str(library)]
    done = subprocess.run(  # noqa: S603 # our own
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _work(tenant: _Tenant, questions: Sequence[str]) -> Mapping[str, tuple[float, Callable[[], bool]]]:
    """The requests that are timed: the seconds from one to the next, and the request."""
    asked = cycle(questions)
    return {
        "query": (_QUERY_SECONDS, lambda: tenant.ask(next(asked))),
        "small upload until it is added": (_UPLOAD_SECONDS, tenant.add_note),
    }


def _measure(work: Mapping[str, tuple[float, Callable[[], bool]]], *, seconds: float) -> dict[str, Times]:
    end = time.monotonic() + seconds

    def times(way: str) -> Times:
        every, request = work[way]
        taken: list[tuple[bool, float]] = []
        while (started := time.monotonic()) < end:
            good = request()
            taken.append((good, time.monotonic() - started))
            time.sleep(max(0.0, started + every - time.monotonic()))
        succeeded = [one for good, one in taken if good]
        p50, p95 = np.percentile(succeeded or [math.inf], (50, 95)).tolist()
        return Times(requests=len(taken), failed=len(taken) - len(succeeded), p50=p50, p95=p95)

    with ThreadPoolExecutor(len(work)) as pool:
        return dict(zip(work, pool.map(times, work), strict=True))


@contextmanager
def _flooding(tenant: _Tenant) -> Iterator[None]:
    """A tenant that uploads hostile texts and asks about them, many at once, during the block."""
    ended = threading.Event()
    texts = cycle([(ending, text) for ending, found in _TEXTS.items() for text in found])
    numbers, lock = count(), threading.Lock()

    def repeat(request: Callable[[], Any]) -> None:
        while not ended.is_set():
            try:
                request()
            except httpx2.HTTPError:
                ended.wait(0.1)

    def upload() -> None:
        with lock:
            number, (ending, text) = next(numbers), next(texts)
        # Each is another paper.
        data = f"Zed {number}\n\n{text * (_SIZE // len(text))}"
        if not (job := tenant.upload(f"{number}.{ending}", data.encode())) or not tenant.has_succeeded(job):
            ended.wait(0.1)

    def ask() -> None:
        with lock:
            number, (_, text) = next(numbers), next(texts)
        question = _QUESTIONS[number % len(_QUESTIONS)].format(start=(text * 40)[:40])
        if not tenant.ask(question):
            ended.wait(0.1)

    requests = [upload] * _WAITING + [ask] * _ASKING
    threads = [threading.Thread(target=repeat, args=(request,), daemon=True) for request in requests]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()


def _table(found: Sequence[Tenants]) -> list[str]:
    header = ["way", "other tenant", "requests", "failed", "p50 s", "p95 s", "ratio of p95"]
    rows = [
        [
            one.way,
            name,
            str(times.requests),
            str(times.failed),
            f"{times.p50:.3f}",
            f"{times.p95:.3f}",
            "" if times is one.without else f"{one.ratio:.2f}",
        ]
        for one in found
        for name, times in (("idle", one.without), ("hostile", one.beside))
    ]
    return table(header, rows)
