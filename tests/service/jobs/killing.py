"""Kills a service at random moments while a client uses it, and reports what became of its jobs."""

import argparse
import dataclasses
import json
import math
import os
import random
import signal
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from graph_store import Store
from service.batch.folder import finished_rows
from tests.model_server import Body, ModelServer, fingerprint, kind_of, serve, words
from tests.paperscope.crashes import orphans, traceable_reply
from tests.service.servers import ServiceProcess, markdown_paper, model_settings, upload, wait_until, worker_pids

__all__ = ["SECONDS", "Client", "Killed", "has_ended", "job", "kill_services", "reply"]


_WHAT = ("service", "worker", "both")
_PAUSE = 0.3
_ROWS = 4
_PARTS = 4
_BUSY = 6
_ENDED = ("succeeded", "failed", "cancelled")


@dataclass
class Client(threading.Thread):
    """Adds papers, asks questions and submits batches, one after the other, until `stop`.

    `papers` are the jobs of papers that were accepted, `batches` those of batches with their questions, `answered` how
    many questions were answered at once, `cut` how many requests broke off, `refused` what else came back. `quota` is
    the most jobs that it submits.
    """

    service: ServiceProcess
    quota: float = math.inf
    papers: list[str] = field(default_factory=list)
    batches: dict[str, list[str]] = field(default_factory=dict)
    answered: int = 0
    cut: int = 0
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self._stopping = threading.Event()

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        """Send requests until `stop`."""
        number = 0
        while not self._stopping.is_set():
            for step in (self._add, self._query, self._batch, self._stream):
                self._until_answered(step, number)
                number += 1
            self._stopping.wait(_PAUSE)

    def stop(self) -> None:
        """End after the current request."""
        self._stopping.set()
        self.join(60)

    def accepted(self) -> list[str]:
        """All accepted jobs."""
        return [*self.papers, *self.batches]

    def _until_answered(self, step: Any, number: int) -> None:
        tries = 0
        while not self._stopping.is_set():
            try:
                if self._is_busy():
                    time.sleep(_PAUSE)
                    continue
                step(number, tries)
            except httpx2.TransportError:
                self.cut += 1
                tries += 1
                time.sleep(0.05)
            else:
                return

    def _is_busy(self) -> bool:
        """Whether so many jobs wait that no further one should be added."""
        jobs = httpx2.get(f"{self.service.address}/v1/jobs", timeout=60).json()
        return len(self.accepted()) >= self.quota or sum(job["state"] not in _ENDED for job in jobs) >= _BUSY

    def _add(self, number: int, _tries: int) -> None:
        response = upload(self.service.address, markdown_paper(_PARTS, f"Tagger{number}"), f"paper-{number}.md")
        if job_id := self._accepted(response):
            self.papers.append(job_id)

    def _batch(self, number: int, tries: int) -> None:
        # Each try has its own questions: a batch that was not acknowledged may be answered, too.
        questions = [f"What is part {row} of try {tries} in file {number} about?" for row in range(_ROWS)]
        response = httpx2.post(f"{self.service.address}/v1/batch", json={"questions": questions}, timeout=60)
        if job_id := self._accepted(response):
            self.batches[job_id] = questions

    def _query(self, number: int, _tries: int) -> None:
        body = {"question": f"Which Corpus does Tagger{number - 1} have?"}
        self._asked(httpx2.post(f"{self.service.address}/v1/query", json=body, timeout=60), "text")

    def _stream(self, number: int, _tries: int) -> None:
        body = {"question": f"Which part names Tagger{number - 3}?", "stream": True}
        self._asked(httpx2.post(f"{self.service.address}/v1/query", json=body, timeout=60), "event: done")

    def _asked(self, response: httpx2.Response, sign: str) -> None:
        if response.status_code == 200 and sign in response.text:
            self.answered += 1
        else:
            self.refused.append(response.text)

    def _accepted(self, response: httpx2.Response) -> str:
        if response.status_code == 202:
            return str(response.json()["id"])
        self.refused.append(response.text)
        return ""


def job(address: str, name: str, *, wait: float = 0.0) -> Mapping[str, Any]:
    """A job as the service shows it, after waiting up to so many seconds for its end."""
    found: Mapping[str, Any] = httpx2.get(f"{address}/v1/jobs/{name}", params={"wait": wait}, timeout=90).json()
    return found


def has_ended(address: str, name: str) -> bool:
    """Whether a job has ended; waits up to 30 s."""
    return job(address, name, wait=30)["state"] in _ENDED


SECONDS = 0.08
_LONGEST = 2.0
_AT_WORK = 0.8
_HOUR = 3600.0
_OF_A_BATCH = {"upload.jsonl", "progress.jsonl", "answers.jsonl", "answers.csv", "report.md", "images"}


@dataclass(kw_only=True, slots=True)
class Killed:
    """The outcome for a service that was killed repeatedly.

    `lost` are accepted jobs that are gone, failed, or without what they should have brought, `refused` what a client
    heard that was no answer. `repeated` counts model calls that were made again although their reply was in the store,
    `again` questions of a batch that were asked again although their row was finished. `leftovers` are files and
    processes that nothing needs. Times are in seconds: from the start of a process until it answered, and from the kill
    until a job that was being worked on went on.
    """

    kills: dict[str, int] = field(default_factory=dict)
    papers: int = 0
    batches: int = 0
    answered: int = 0
    cut: int = 0
    calls: int = 0
    lost: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    repeated: int = 0
    again: int = 0
    leftovers: list[str] = field(default_factory=list)
    integrity: str = ""
    exit_code: int = -1
    ready: list[float] = field(default_factory=list)
    going_on: list[float] = field(default_factory=list)


def reply(body: Body) -> str:
    """A reply that names its request: entities for an add, an answer for a question."""
    if "response_format" in body and kind_of(body) == "entities":
        return traceable_reply(body)
    text = f"It is named {fingerprint(body)}."
    return json.dumps({"status": "answered", "answer": text, "claims": [{"text": text, "evidence": ["S0"]}]})


def kill_services(
    folder: Path,
    server: ModelServer,
    *,
    kills: int,
    seed: int,
    what: Sequence[str] = _WHAT,
    jobs: float = math.inf,
) -> Killed:
    """Kill a service so often, or its worker, or both at once, each time at a random moment, mostly while a job is
    being worked on; then let it do what it had accepted, end it, and look at what is there. The library is
    `folder / "library"`. If `jobs` is finite, it is how many jobs are submitted, as many between any two kills."""
    moments, found = random.Random(seed), Killed()
    library, scratch = folder / "library", folder / "tmp"
    scratch.mkdir()
    Store.open(library).close()
    service = ServiceProcess(library, model_settings(server.url), TMPDIR=str(scratch))
    found.ready.append(service.start())
    client = Client(service)
    client.start()
    for number in range(1, kills + 1):
        client.quota = jobs * number / kills
        if number == kills and jobs == math.inf:
            # On a busy machine, the last kill may come before the first batch.
            wait_until(lambda: client.batches, seconds=180)
        if moments.random() < _AT_WORK:
            wait_until(partial(_is_at_work, service, library))
        time.sleep(moments.uniform(0.0, _LONGEST))
        _kill(service, library, server, found, moments.choice(what))
    if jobs < math.inf:
        wait_until(lambda: len(client.accepted()) >= jobs, seconds=1200)
    client.stop()
    for name in client.accepted():
        wait_until(partial(has_ended, service.address, name), seconds=120)
    found.papers, found.batches, found.answered = len(client.papers), len(client.batches), client.answered
    found.cut, found.refused, found.calls = client.cut, client.refused, len(server.names)
    found.lost = [*_lost_papers(client), *_lost_rows(client)]
    found.exit_code = service.end(signal.SIGTERM)
    _grow_old(library)
    service.start()
    wait_until(lambda: httpx2.get(f"{service.address}/readyz").status_code == 200)
    with suppress(AssertionError):
        wait_until(partial(_is_tidy, library), seconds=10)
    service.end(signal.SIGTERM)
    found.leftovers = _leftovers(folder)
    found.integrity = _integrity(library)
    return found


def _kill(service: ServiceProcess, library: Path, server: ModelServer, found: Killed, how: str) -> None:
    """Kill, restart what was killed, and wait until a job that was running goes on."""
    at_work = _rows(library, "SELECT id, owner FROM jobs WHERE state = 'running'")
    children = worker_pids(service.process.pid)
    if not children:
        how = "service"
    found.kills[how] = found.kills.get(how, 0) + 1
    if how != "worker":
        service.process.kill()
    if how != "service":
        for child in children:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
    killed = time.monotonic()
    if how != "worker":
        service.process.wait()
    paid, rows, before, sent = _paid(library, server), _finished(library), len(server.names), len(server.bodies)
    if how != "worker":
        found.ready.append(service.start())
    if at_work:
        owners = {str(owner) for _, owner in at_work}
        wait_until(partial(_goes_on, library, [str(row[0]) for row in at_work], owners))
        found.going_on.append(time.monotonic() - killed)
    found.repeated += len(paid & set(server.names[before:]))
    asked = [words(body) for body in server.bodies[sent:]]
    found.again += sum(any(question in text for text in asked) for question in rows)


def _is_at_work(service: ServiceProcess, library: Path) -> bool:
    return bool(worker_pids(service.process.pid) and _rows(library, "SELECT id FROM jobs WHERE state = 'running'"))


def _goes_on(library: Path, jobs: list[str], owners: set[str]) -> bool:
    """Whether another worker has leased one of these jobs, or one has ended."""
    now = {str(row[0]): row[1:] for row in _rows(library, "SELECT id, state, owner FROM jobs")}
    states = [now[name] for name in jobs]
    return any(state not in ("running", "queued") or owner not in {"", *owners} for state, owner in states)


def _paid(library: Path, server: ModelServer) -> set[str]:
    """The calls whose replies are stored in the library."""
    replies = "".join(str(row[0]) for row in _rows(library, "SELECT value FROM calls"))
    return {name for name in server.names if name in replies}


def _finished(library: Path) -> list[str]:
    """The questions of batches whose rows are finished."""
    files = library.glob("jobs/*/progress.jsonl")
    return [row.question for file in files for row in finished_rows(file)]


def _lost_papers(client: Client) -> list[str]:
    address = client.service.address
    there = {one["id"] for one in httpx2.get(f"{address}/v1/papers", params={"limit": 1000}).json()["papers"]}
    jobs = [job(address, name) for name in client.papers]
    return [
        f"{one.get('id')}: {one.get('state')} {one.get('error')}"
        for one in jobs
        if one.get("state") != "succeeded" or one["result"]["paper"] not in there
    ]


def _lost_rows(client: Client) -> list[str]:
    lost: list[str] = []
    for name, questions in client.batches.items():
        one = job(client.service.address, name)
        url = f"{client.service.address}/v1/jobs/{name}/results/answers.jsonl"
        rows = [json.loads(line) for line in httpx2.get(url).text.splitlines()]
        answered = [row["question"] for row in rows if row["status"] != "error"]
        if one["state"] != "succeeded" or answered != questions:
            lost.append(f"{name}: {one['state']} {one['error']} with {len(answered)} of {len(questions)} rows")
    return lost


def _grow_old(library: Path) -> None:
    """Make everything so old that housekeeping deletes what nothing needs."""
    long_ago = time.time() - 2 * _HOUR
    for path in library.glob("jobs/*"):
        os.utime(path, (long_ago, long_ago))


def _is_tidy(library: Path) -> bool:
    return all((path / "progress.jsonl").is_file() for path in library.glob("jobs/*"))


def _leftovers(folder: Path) -> list[str]:
    library = folder / "library"
    files = [*library.rglob("*.tmp"), *library.glob("workers/*"), *(folder / "tmp").iterdir()]
    files += [file for file in library.glob("jobs/*/*") if file.name not in _OF_A_BATCH]
    return [
        *(str(file.relative_to(folder)) for file in files),
        *(f"process {process}" for process in _processes(folder / "tmp")),
        *(f"{count} rows or crops of no paper" for count in [orphans(library)] if count),
    ]


def _processes(scratch: Path) -> list[int]:
    """The running processes whose folder for temporary files is this one."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"TMPDIR={scratch}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def _integrity(library: Path) -> str:
    return str(_rows(library, "PRAGMA integrity_check")[0][0])


def _rows(library: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(library / "library.sqlite", timeout=30)) as connection:
        return connection.execute(query).fetchall()


def main() -> None:
    """Kill services and print the outcome."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("kills", type=int, nargs="?", default=20)
    arguments.add_argument("seed", type=int, nargs="?", default=7)
    arguments.add_argument("--what", nargs="+", choices=_WHAT, default=_WHAT, help="what is killed")
    arguments.add_argument("--jobs", type=int, default=math.inf, help="how many jobs are submitted")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve(reply, seconds=SECONDS) as server:
        server.streams = True
        killed = kill_services(
            Path(folder), server, kills=options.kills, seed=options.seed, what=options.what, jobs=options.jobs
        )
    outcome = dataclasses.asdict(killed)
    for name in ("ready", "going_on"):
        times = outcome[name]
        outcome[name] = {
            "times": len(times),
            "median": statistics.median(times or [0.0]),
            "worst": max(times, default=0.0),
        }
    sys.stdout.write(f"{json.dumps(outcome)}\n")


if __name__ == "__main__":
    main()
