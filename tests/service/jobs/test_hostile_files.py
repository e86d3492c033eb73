"""Hostile uploads: each ends with one clear message or within limits, and the service responds all the while."""

import re
import signal
import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.model_server import serve
from tests.service.jobs.hostile_files import injection_files, oversized_files
from tests.service.servers import (
    Canary,
    ServiceProcess,
    canary,
    embedder_settings,
    job_of,
    markdown_paper,
    upload,
    wait_until,
    worker_pids,
)

pytestmark = pytest.mark.slow

SECRET = "the-word-that-nobody-may-read"  # noqa: S105 # opens nothing
_LIMITS = {
    "limits.max_file_mb": 10,
    "limits.max_pages": 50,
    "limits.parse_seconds": 10.0,
    "limits.memory_mb": 2048,
    "parser.ocr": "off",
}
_TOO_LONG = r"was given up: .* Raise limits\.parse_"
_TOO_MANY = r"holds over \d+ elements\. Split it"
_DEEP = r"no text that can be read \(.*depth.*Is it the right file"
MESSAGES = {
    "plain.docx": r"unpack to 1 parts of 2000 MB.* the limits are .* Save it again",
    "many-to-one.docx": r"unpack to 4000 parts of 4000 MB.* the limits are .* Save it again",
    "tags.docx": _TOO_MANY,
    "words.docx": r"as much text as \d+ pages, over the limit of 50; split it",
    "deep.docx": _DEEP,
    "deep.html": _DEEP,
    "deep.xml": _DEEP,
    "brackets.md": _TOO_LONG,
    "words.pdf": _TOO_LONG,
    "image.pdf": _TOO_LONG,
    "pages.pdf": r"100000 pages, over the limit of 50; raise limits\.max_pages",
    "loop.pdf": r"no page of it can be found",
    "huge.png": r"too many pixels; the limit is 120 million\. Make it smaller",
    "latex.tar.gz": r"holds no LaTeX paper: none of its files has",
    "macros.tex": r"expand to too much text\. Compile it to PDF",
    "latex.gz": r"would unpack to more than 400 MB\. Pack its sources only",
    "part.xlsx": r"would unpack to 1 parts of 2000 MB",
}


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What came of all files: the jobs by name, how long each upload and each call of /healthz took (seconds), and the
    most memory that the service, and the rest of its processes, ever took (MB)."""

    address: str
    folder: Path
    uploads: Mapping[str, float]
    jobs: Mapping[str, Mapping[str, Any]]
    health: list[float]
    before_mb: float
    after_mb: float
    others_mb: float
    canary: Canary


def memory_mb(process: int, field: str = "VmHWM") -> float:
    """A process's current (VmRSS) or peak (VmHWM) memory in MB; 0 if it has ended."""
    try:
        lines = (Path("/proc") / str(process) / "status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith(f"{field}:")), 0.0)


def below(process: int) -> list[int]:
    """The worker of a service and the processes that it started."""
    found = worker_pids(process)
    for worker in list(found):
        try:
            # Linux lists children by thread.
            for thread in (Path("/proc") / f"{worker}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def timed(call: Any) -> tuple[float, Any]:
    begun = time.monotonic()
    value = call()
    return time.monotonic() - begun, value


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder = tmp_path_factory.mktemp("bombs")
    (folder / "scratch").mkdir()
    (folder / "secret.txt").write_text(SECRET)
    with canary() as bird, serve() as model:
        settings = {**_LIMITS, **embedder_settings(model.url)}
        service = ServiceProcess(folder / "library", settings, TMPDIR=str(folder / "scratch"))
        service.start()
        try:
            yield seen_by(service, folder, bird)
        finally:
            service.end(signal.SIGTERM)


def seen_by(service: ServiceProcess, folder: Path, bird: Canary) -> Seen:
    """Upload all files, and observe the service until the last job has ended."""
    address, process = service.address, service.process.pid
    files = oversized_files() | injection_files(bird.url, folder / "secret.txt")
    assert job_of(upload(address, markdown_paper(1, "Chunker"), "first.md"), address)["state"] == "succeeded"
    before, others, health = memory_mb(process), 0.0, []
    sent = {name: timed(lambda: upload(address, data, name)) for name, data in files.items()}  # noqa: B023 # called now
    waiting = {name: response for name, (_, response) in sent.items() if response.status_code == 202}
    jobs: dict[str, Mapping[str, Any]] = {
        name: {"state": "refused", "error": response.json()["detail"], "result": None}
        for name, (_, response) in sent.items()
        if name not in waiting
    }
    ends = time.monotonic() + 240
    while len(jobs) < len(files):
        assert time.monotonic() < ends, sorted(files.keys() - jobs.keys())
        others = max(others, *map(memory_mb, below(process)), 0.0)
        health.append(timed(lambda: httpx2.get(f"{address}/healthz", timeout=30).raise_for_status())[0])
        now = {job["id"]: job for job in httpx2.get(f"{address}/v1/jobs", params={"limit": 1000}).json()}
        for name in waiting.keys() - jobs.keys():
            job = now[waiting[name].json()["id"]]
            if job["state"] not in ("queued", "running"):
                jobs[name] = job
        time.sleep(0.1)
    return Seen(
        address=address,
        folder=folder,
        uploads={name: seconds for name, (seconds, _) in sent.items()},
        jobs=jobs,
        health=health,
        before_mb=before,
        after_mb=memory_mb(process),
        others_mb=others,
        canary=bird,
    )


@pytest.mark.parametrize("name", MESSAGES)
def test_oversized_files_fail_with_one_helpful_message(seen: Seen, name: str) -> None:
    job = seen.jobs[name]
    assert job["state"] in ("refused", "failed")
    [line] = job["error"].splitlines()
    assert re.search(MESSAGES[name], line), line
    assert name in line
    assert str(seen.folder) not in line


def test_injections_in_papers_have_no_effect(seen: Seen) -> None:
    names = seen.jobs.keys() - MESSAGES.keys()
    assert {name: seen.jobs[name]["error"] for name in names if seen.jobs[name]["state"] != "succeeded"} == {}
    for name in names:
        paper_of = f"{seen.address}/v1/papers/{seen.jobs[name]['result']['paper']}"
        told = httpx2.get(paper_of).text + httpx2.get(f"{paper_of}/elements?limit=1000").text
        assert SECRET not in told, name
        assert "haha" not in told, name
    assert seen.canary.calls == []


def test_uploads_are_accepted_at_once_and_the_service_stays_responsive(seen: Seen) -> None:
    assert len(seen.health) >= 10
    # A single one may wait for a CPU.
    assert statistics.quantiles(seen.health, n=20)[-1] < 1.0
    assert statistics.median(seen.uploads.values()) < 1.0
    assert max(seen.uploads.values()) < 10.0
    assert seen.after_mb < seen.before_mb + 150
    # Beyond its limit, a child needs memory for its libraries.
    assert seen.others_mb < 1200


def test_nothing_is_left_over_and_the_next_upload_and_question_are_served(seen: Seen) -> None:
    library = seen.folder / "library"
    wait_until(lambda: not list((library / "jobs").glob("*")))
    kept = {job["result"]["paper"] for job in seen.jobs.values() if job["result"]}
    listed = {one["id"] for one in httpx2.get(f"{seen.address}/v1/papers?limit=1000").json()["papers"]}
    assert kept <= listed
    assert {folder.name[:12] for folder in (library / "originals").glob("*")} == listed
    assert not list(library.rglob("*.tmp"))
    assert not [path for path in (seen.folder / "scratch").rglob("*") if path.is_file()]
    assert job_of(upload(seen.address, markdown_paper(1, "Parser"), "next.md"), seen.address)["state"] == "succeeded"
    answer = httpx2.post(f"{seen.address}/v1/query", json={"question": "What does a Parser name?"}, timeout=60)
    assert answer.status_code == 200
    assert answer.json()["status"]
