"""`bench soak`: several servers and workers on one library, which are killed and restarted while clients use it."""

import argparse
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graph_store import Store
from paperscope_core.errors import PaperscopeError
from paperscope_core.locations import Location, location_text, parse_location
from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.rendering import table

__all__ = ["DESCRIPTION", "HELP", "Soaked", "add_options", "run"]

HELP = "whether anything is lost while servers and workers are killed and restarted"
DESCRIPTION = (
    "Starts servers and workers on one library. Clients read, ask, begin conversations and upload papers; like a "
    "proxy, they go to another server if one refuses a connection or says that it ends. Meanwhile, one process after "
    "the other is killed, ended or told to replace its processes, and started again. Fails if an acknowledged write is "
    "lost, if a job was done twice, or if a request fails for another reason than that its server was killed."
)
_TIMEOUT = 120.0
_START_SECONDS = 120.0
# How long the jobs that wait at the end may take.
_JOBS_SECONDS = 900.0
_RETRY_SECONDS = 0.05
# A connection to a killed server may break this long after its process was seen to have ended.
_KILL_SECONDS = 2.0
# Beyond these, clients add no papers.
_WAITING = 16
_ENDED = ("succeeded", "failed", "cancelled")
_STEPS = ("papers", "elements", "metrics", "retrieve", "query", "conversation", "upload")
_WEIGHTS = (6, 6, 1, 3, 2, 1, 2)
_WORDS = ("tagger", "corpus", "recall", "entity", "graph", "encoder", "baseline", "score", "sentence", "model")
_QUESTIONS = (
    "Which corpus does tagger {} use?",
    "What is the recall of tagger {}?",
    "What is compared with tagger {}?",
)

_Document = Mapping[str, Any]


@dataclass(kw_only=True, slots=True)
class Soaked:
    """What came of it.

    Attributes:
        answered: Requests that were answered, by what they asked for.
        others: Requests that were not answered: `moved` to another server, as one refused the connection or said that
            it ends; `busy`, refused as one too many (429); `cut` as their server was killed; `failed`.
        failed: Why requests failed.
        interruptions: How often processes were killed, ended, or replaced.
        lost: Acknowledged writes that are not there at the end.
        twice: Jobs that ended twice, and papers that were stored twice.
    """

    answered: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    interruptions: Counter[str] = field(default_factory=Counter)
    jobs: int = 0
    conversations: int = 0
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)


def add_options(soak: argparse.ArgumentParser) -> None:
    """Adds the options of `soak`."""
    soak.add_argument(
        "--library", metavar="PLACE", help="an empty folder or the address of a database (default: a temporary folder)"
    )
    soak.add_argument("--minutes", type=float, default=10.0, metavar="M", help="how long (default: 10)")
    soak.add_argument("--clients", type=int, default=32, metavar="N", help="how many use it at once (default: 32)")
    soak.add_argument("--servers", type=int, default=2, metavar="N", help="how many servers (default: 2)")
    soak.add_argument("--workers", type=int, default=2, metavar="N", help="how many workers (default: 2)")
    soak.add_argument(
        "--processes", type=int, default=1, metavar="N", help="processes of a server (`serve --workers`; default: 1)"
    )
    soak.add_argument("--pause", type=float, default=15.0, metavar="S", help="between interruptions (default: 15)")
    soak.add_argument("--seed", type=int, default=0, metavar="N", help="of the clients and interruptions")
    add_out(soak)


def run(options: argparse.Namespace) -> int:
    """Returns 0, or 1 if something was lost, done twice or failed."""
    with TemporaryDirectory() as folder:
        library = parse_location(options.library or Path(folder) / "library")
        found = _Soak(library, options, logs=Path(folder)).run()
    print_page(_lines(found))
    write_figures(options.out, found)
    return 1 if found.lost or found.twice or found.failed else 0


def _lines(found: Soaked) -> list[str]:
    rows = [
        *((f"answered: {name}", str(count)) for name, count in sorted(found.answered.items())),
        *((f"interruptions: {name}", str(count)) for name, count in sorted(found.interruptions.items())),
        ("acknowledged uploads", str(found.jobs)),
        ("acknowledged conversations", str(found.conversations)),
        ("went to another server", str(found.others["moved"])),
        ("refused as one too many (429)", str(found.others["busy"])),
        ("cut by a kill", str(found.others["cut"])),
        ("failed otherwise", str(len(found.failed))),
        ("acknowledged writes lost", str(len(found.lost))),
        ("jobs done twice", str(len(found.twice))),
    ]
    return [*table(["what", "count"], [list(row) for row in rows]), *found.failed[:10], *found.lost[:10], *found.twice]


class _Process:
    """A server or a worker, which is started again as it was; `killed` are the times at which it was killed."""

    def __init__(self, arguments: Sequence[str], *, port: int, log: Path) -> None:
        self.port = port
        self.killed: list[float] = []
        self._arguments = arguments
        self._log = log

    @property
    def name(self) -> str:
        """What it is."""
        return "server" if self.port else "worker"

    def start(self) -> None:
        """Starts it; a server must then be ready within some time."""
        command = [sys.executable, "-m", "paperscope", *self._arguments]
        with self._log.open("ab") as log:
            self._running = subprocess.Popen(  # noqa: S603 # our own
                command, stdout=log, stderr=log, env={**os.environ, "PAPERSCOPE_SERVICE__LOG": "json"}
            )
        end = time.monotonic() + _START_SECONDS
        while self.port and not self._is_ready():
            if time.monotonic() > end or self._running.poll() is not None:
                raise PaperscopeError(
                    f"`paperscope {' '.join(self._arguments)}` did not start: {self._log.read_text()}"
                )
            time.sleep(0.1)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal; waits for the end that it causes."""
        if number == signal.SIGKILL:
            self.killed.append(time.monotonic())
        self._running.send_signal(number)
        if number != signal.SIGHUP:
            self._running.wait()
            if number == signal.SIGKILL:
                # Processes of a killed server go on until their requests have ended.
                self.killed.append(time.monotonic())

    def was_killed_since(self, begun: float) -> bool:
        """Whether it was killed after this time, or shortly before."""
        # Whoever kills it notes it afterwards.
        time.sleep(_RETRY_SECONDS)
        return any(moment > begun - _KILL_SECONDS for moment in self.killed)

    def _is_ready(self) -> bool:
        try:
            return _send(self.port, "GET", "/readyz")[0] == http.client.OK
        except (OSError, http.client.HTTPException):
            return False


class _Soak:
    def __init__(self, library: Location, options: argparse.Namespace, *, logs: Path) -> None:
        self._library = library
        self._options = options
        self._logs = logs
        self._found = Soaked()
        self._lock = threading.Lock()
        self._jobs: dict[str, str] = {}
        self._conversations: list[str] = []
        self._papers: list[str] = []
        self._ending = threading.Event()

    def run(self) -> Soaked:
        """Runs clients and interruptions, then looks at what is there."""
        Store.open(self._library).close()
        with self._started() as (servers, workers):
            self._servers = servers
            seeds = range(self._options.seed, self._options.seed + self._options.clients)
            clients = [threading.Thread(target=self._use, args=(seed,), daemon=True) for seed in seeds]
            for client in clients:
                client.start()
            self._interrupt([*servers, *workers])
            self._ending.set()
            for client in clients:
                client.join(2 * _TIMEOUT)
            self._check()
        return self._found

    @contextmanager
    def _started(self) -> Iterator[tuple[list[_Process], list[_Process]]]:
        place = ["--library", location_text(self._library)]
        with ExitStack() as stack:

            def started(command: Sequence[str], number: int, *, port: int = 0) -> _Process:
                process = _Process([*command, *place], port=port, log=self._logs / f"{command[0]}-{number}.log")
                process.start()
                stack.callback(process.signal, signal.SIGTERM)
                return process

            serve = ["serve", "--no-jobs", "--workers", str(self._options.processes)]
            servers = []
            for number in range(self._options.servers):
                port = _free_port()
                servers.append(started([*serve, "--port", str(port)], number, port=port))
            yield servers, [started(["worker"], number) for number in range(self._options.workers)]

    def _interrupt(self, processes: Sequence[_Process]) -> None:
        """Interrupts one process after the other until the time is over, each in every way before one repeats."""
        choose = random.Random(self._options.seed)  # noqa: S311 # no secret
        ways = [(process, number) for process in processes for number in self._signals(process)]
        left: list[tuple[_Process, signal.Signals]] = []
        end = time.monotonic() + 60 * self._options.minutes
        while (remaining := end - time.monotonic()) > 0:
            time.sleep(min(remaining, self._options.pause))
            left = left or choose.sample(ways, len(ways))
            process, number = left.pop()
            self._found.interruptions[f"{process.name} {number.name}"] += 1
            process.signal(number)
            if number != signal.SIGHUP:
                process.start()

    def _signals(self, process: _Process) -> list[signal.Signals]:
        numbers = [signal.SIGKILL, signal.SIGTERM]
        # Only several processes are replaced.
        return [*numbers, signal.SIGHUP] if process.port and self._options.processes > 1 else numbers

    def _use(self, seed: int) -> None:
        """Sends requests of all kinds until the end."""
        choose = random.Random(seed)  # noqa: S311 # no secret
        steps: Mapping[str, Callable[[random.Random], None]] = {
            "conversation": self._begin_conversation,
            "upload": self._upload,
        }
        while not self._ending.is_set():
            step = choose.choices(_STEPS, _WEIGHTS)[0]
            try:
                steps.get(step, lambda choose, step=step: self._read(step, choose))(choose)
            except PaperscopeError as error:
                with self._lock:
                    self._found.failed.append(f"{step}: {error}")

    def _read(self, step: str, choose: random.Random) -> None:
        with self._lock:
            paper = choose.choice(self._papers) if self._papers else ""
        if step in ("retrieve", "query"):
            question = choose.choice(_QUESTIONS).format(choose.randrange(100))
            self._request(step, choose, "POST", f"/v1/{step}", {"question": question})
        elif step == "elements" and paper:
            self._request(step, choose, "GET", f"/v1/papers/{paper}/elements")
        elif step == "metrics":
            self._request(step, choose, "GET", "/metrics")
        else:
            found = self._request("papers", choose, "GET", "/v1/papers?limit=1000")
            with self._lock:
                self._papers = [one["id"] for one in (found or {}).get("papers", ())] or self._papers

    def _begin_conversation(self, choose: random.Random) -> None:
        begun = self._request("conversation", choose, "POST", "/v1/conversations", {"title": f"{choose.random()}"})
        if begun:
            with self._lock:
                self._conversations.append(begun["id"])

    def _upload(self, choose: random.Random) -> None:
        jobs = self._request("jobs", choose, "GET", "/v1/jobs?limit=100")
        if jobs is None or sum(one["state"] not in _ENDED for one in jobs) >= _WAITING:
            return
        name = f"paper-{choose.randrange(10**12)}.md"
        job = self._request("upload", choose, "POST", "/v1/papers", _paper(choose), name=name)
        if job:
            with self._lock:
                self._jobs[job["id"]] = name

    def _request(
        self,
        step: str,
        choose: random.Random,
        method: str,
        path: str,
        body: Mapping[str, object] | str | None = None,
        *,
        name: str = "",
    ) -> Any:  # noqa: ANN401 # JSON
        """The JSON of a response, from the first server that takes the request; None if it is refused as one too many.

        Raises PaperscopeError if it fails for another reason than that its server was killed.
        """
        end = time.monotonic() + _TIMEOUT
        while True:
            server, begun = choose.choice(self._servers), time.monotonic()
            try:
                status, data = _send(server.port, method, path, body, name=name)
            except ConnectionRefusedError:
                outcome, detail = "moved", "refused the connection"
            except (OSError, http.client.HTTPException) as error:
                outcome, detail = "cut", repr(error)
                if not server.was_killed_since(begun):
                    raise PaperscopeError(f"{method} {path}: {detail}") from error
            else:
                outcome, detail = _outcome(status, data), f"{status} {data[:300]!r}"
            self._count(step, outcome)
            if outcome == "answered":
                return json.loads(data) if data[:1] in (b"{", b"[") else {}
            if outcome == "busy":
                return None
            if outcome == "failed" or time.monotonic() > end:
                raise PaperscopeError(f"{method} {path}: {detail}")
            time.sleep(_RETRY_SECONDS)

    def _count(self, step: str, outcome: str) -> None:
        with self._lock:
            if outcome == "answered":
                self._found.answered[step] += 1
            else:
                self._found.others[outcome] += 1

    def _check(self) -> None:
        """Waits for the end of all accepted jobs, and finds what is lost or was done twice."""
        choose = random.Random(self._options.seed)  # noqa: S311 # no secret
        end = time.monotonic() + _JOBS_SECONDS
        jobs: dict[str, _Document] = {}
        for job in self._jobs:
            wait = max(0, min(60, round(end - time.monotonic())))
            jobs[job] = self._request("job", choose, "GET", f"/v1/jobs/{job}?wait={wait}")
        with closing(Store.open(self._library, read_only=True)) as store:
            stored = Counter(change.paper for change in store.changes_since(0) if change.action != "removed")
            ids = {entry.id for entry in store.entries()}
            conversations = {head.id for head in store.conversations.all(limit=10**6)}
        for job, name in self._jobs.items():
            shown = jobs[job]
            if shown["state"] != "succeeded" or shown["result"]["paper"] not in ids:
                self._found.lost.append(f"{name}: {job} {shown['state']} {shown['error']}")
        self._found.lost += [name for name in self._conversations if name not in conversations]
        self._found.jobs, self._found.conversations = len(self._jobs), len(self._conversations)
        ended = Counter(self._ended_jobs())
        self._found.twice += [f"{job} ended {count} times" for job, count in ended.items() if count > 1]
        self._found.twice += [f"{paper} was stored {count} times" for paper, count in stored.items() if count > 1]

    def _ended_jobs(self) -> Iterator[str]:
        """The jobs whose end the workers logged."""
        for log in self._logs.glob("worker-*.log"):
            for line in log.read_text().splitlines():
                event = json.loads(line) if line.startswith("{") else {}
                if event.get("event") == "job" and event["state"] == "succeeded":
                    yield event["job"]


def _outcome(status: int, data: bytes) -> str:
    """What a response means: "answered", "busy", "moved" (ask another server) or "failed"."""
    if status == http.client.SERVICE_UNAVAILABLE and b":ending" in data:
        return "moved"
    if status == http.client.TOO_MANY_REQUESTS:
        return "busy"
    return "answered" if status < http.client.BAD_REQUEST else "failed"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _send(
    port: int, method: str, path: str, body: Mapping[str, object] | str | None = None, *, name: str = ""
) -> tuple[int, bytes]:
    """The status and body of a response, over a connection of its own; a text is uploaded as a file with this name."""
    headers: dict[str, str] = {"Connection": "close"}
    data: str | None = None
    if isinstance(body, str):
        headers["Content-Type"] = "multipart/form-data; boundary=paperscope"
        part = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        data = f"--paperscope\r\n{part}\r\n\r\n{body}\r\n--paperscope--\r\n"
    elif body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)) as connection:
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        return response.status, response.read()


def _paper(choose: random.Random) -> str:
    """A paper whose text occurs once."""
    number = choose.randrange(100)
    lines = [f"# Tagger {number} of {choose.randrange(10**12)}"]
    for section in range(4):
        words = (" ".join(choose.choices(_WORDS, k=12)) for _ in range(6))
        lines += [f"## Part {section}", *(f"Tagger {number} has a {text}." for text in words)]
    return "\n\n".join(lines)
