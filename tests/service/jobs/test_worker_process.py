"""Jobs survive the death of the worker, of the service and of both, and can be cancelled."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2
import pymupdf
import pytest

from graph_store import Store
from graph_store.job_queue import ATTEMPTS
from paperscope_core.codec import to_json
from service.jobs.requests import JobFiles, PaperJob
from tests.model_server import ModelServer, kind_of, serve
from tests.paperscope.crashes import traceable_reply
from tests.service.http.test_metrics import read
from tests.service.http.test_model_usage import calls
from tests.service.servers import (
    is_alive,
    job_of,
    markdown_paper,
    serve_app,
    settings_with_model,
    upload,
    wait_until,
    worker_pids,
)

pytestmark = pytest.mark.slow

PARTS = 12


def reply(body: Any) -> str:
    """Entities that name their request for an add, and an answer to every question."""
    if "response_format" in body and kind_of(body) == "entities":
        return traceable_reply(body)
    claims = [{"text": "It is named.", "evidence": ["S0"]}]
    return json.dumps({"status": "answered", "answer": "It is named.", "claims": claims})


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serve(reply, seconds=0.15) as server:
        yield server


def get(address: str, response: httpx2.Response) -> Any:
    return httpx2.get(f"{address}{response.headers['location']}").json()


def attempted(address: str, response: httpx2.Response, attempt: int) -> bool:
    return bool(get(address, response)["attempts"] == attempt)


def set_attempts(folder: Path, response: httpx2.Response, attempts: int) -> None:
    store = Store.open(folder / "library")
    with closing(store), store.database.write() as connection:
        job = response.json()["id"]
        connection.exec_driver_sql("UPDATE jobs SET attempts = ? WHERE id = ?", (attempts, job))


def gone(process: int) -> bool:
    return not is_alive(process)


def kept(folder: Path, model: ModelServer) -> set[str]:
    """The calls whose replies are stored in the library."""
    store = Store.open(folder / "library")
    with store.database.read() as connection:
        values = "".join(row[0] for row in connection.exec_driver_sql("SELECT value FROM calls"))
    store.close()
    return {name for name in model.names if name in values}


def test_the_next_worker_resumes_a_killed_workers_job_and_pays_and_counts_nothing_twice(
    tmp_path: Path, model: ModelServer
) -> None:
    with serve_app(settings_with_model(tmp_path, model)) as address:
        response = upload(address, markdown_paper(PARTS))
        wait_until(lambda: len(model.names) >= 4)
        [worker] = worker_pids()
        os.kill(worker, signal.SIGKILL)
        wait_until(partial(gone, worker))
        paid = kept(tmp_path, model)
        job = job_of(response, address)
        assert (job["state"], job["attempts"]) == ("succeeded", 2)
        assert paid
        counts = Counter(model.names)
        assert len(counts) == PARTS
        assert all(counts[name] == 1 for name in paid), "paid twice"
        assert job["result"]["usage"]["cached"] == len(paid)
        counted = calls(read(httpx2.get(f"{address}/metrics")), "add", "extract")
        assert counted["kept"] == len(paid)
        # Two were in progress when it was killed, and may have been reported but not yet stored.
        assert PARTS <= counted["answered"] <= PARTS + 2
    assert not worker_pids()


def test_a_job_that_kills_its_workers_fails_without_harming_others(tmp_path: Path, model: ModelServer) -> None:
    model.seconds = 3.0
    with serve_app(settings_with_model(tmp_path, model)) as address:
        deadly, other = upload(address, markdown_paper(3)), upload(address, markdown_paper(1, "Parser"))
        wait_until(partial(attempted, address, other, 1))
        for attempt in (1, 2, ATTEMPTS):
            wait_until(partial(attempted, address, deadly, attempt))
            if attempt == 2:
                assert get(address, other)["stage"] == "in quarantine", "the first one is done alone"
                # Deaths between these take too long for a test.
                set_attempts(tmp_path, deadly, ATTEMPTS - 1)
            [worker] = worker_pids()
            os.kill(worker, signal.SIGKILL)
            wait_until(partial(gone, worker))
        model.seconds = 0.0
        job = job_of(deadly, address)
        assert (job["state"], job["attempts"]) == ("failed", ATTEMPTS)
        assert f"{ATTEMPTS - 1} workers died while they worked on this job only" in job["error"]
        assert job_of(other, address)["state"] == "succeeded"


def test_a_running_job_is_cancelled_soon_and_the_next_one_runs(tmp_path: Path, model: ModelServer) -> None:
    model.seconds = 1.0
    with serve_app(settings_with_model(tmp_path, model, **{"service.jobs_at_once": 1})) as address:
        running, waiting, last = (
            upload(address, markdown_paper(PARTS)),
            upload(address, markdown_paper(2)),
            upload(address, b"Last."),
        )
        wait_until(lambda: model.names)
        assert httpx2.post(f"{address}{waiting.headers['location']}/cancel").json()["state"] == "cancelled"
        cancelled = httpx2.post(f"{address}{running.headers['location']}/cancel").json()
        assert (cancelled["state"], cancelled["cancelling"]) == ("running", True)
        assert job_of(running, address, wait=10)["state"] == "cancelled"
        calls = len(model.names)
        model.seconds = 0.0
        assert job_of(last, address)["state"] == "succeeded"
        assert len(model.names) <= calls + 1
        assert httpx2.post(f"{address}{last.headers['location']}/cancel").json()["state"] == "succeeded"
        wait_until(lambda: not list((tmp_path / "library" / "jobs").glob("*")))
        papers = Store.open(tmp_path / "library")
        assert len(papers.entries()) == 1
        papers.close()


def test_a_shutdown_requeues_jobs_without_counting_an_attempt(tmp_path: Path, model: ModelServer) -> None:
    model.seconds = 0.5
    with serve_app(settings_with_model(tmp_path, model)) as address:
        added = upload(address, markdown_paper(PARTS))
        wait_until(lambda: len(model.names) >= 3)
    assert not worker_pids()
    store = Store.open(tmp_path / "library")
    [job] = store.jobs.all()
    store.close()
    assert (job.state, job.attempts) == ("queued", 0)
    paid = kept(tmp_path, model)
    assert len(paid) >= 1
    model.seconds = 0.0
    with serve_app(settings_with_model(tmp_path, model)) as address:
        assert job_of(added, address)["state"] == "succeeded"
    assert all(Counter(model.names)[name] == 1 for name in paid)
    assert [path.name for path in tmp_path.rglob("*.tmp")] == []


def test_a_password_outlives_a_worker_and_after_a_restart_the_job_asks_for_it(
    tmp_path: Path, model: ModelServer, root: Path
) -> None:
    password = "open sesame"  # noqa: S105 # a test's
    with pymupdf.open(root / "examples" / "paper" / "ner-report.pdf") as document:
        document.select([2])
        locked = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=password, owner_pw="own")
    model.seconds = 2.0
    library = tmp_path / "library"
    # As an earlier service left it.
    with closing(Store.open(library)) as store:
        request = PaperJob(name="locked.pdf", upload="upload.pdf", with_password=True)
        waiting = store.jobs.create("add", to_json(request)).id
        JobFiles(library).store(waiting, BytesIO(locked), file="upload.pdf")
    with serve_app(settings_with_model(tmp_path, model)) as address:
        failed = httpx2.get(f"{address}/v1/jobs/{waiting}", params={"wait": 60}, timeout=90).json()
        assert failed["state"] == "failed"
        assert "send the paper again with its password" in failed["error"]
        added = upload(address, locked, "locked.pdf", password=password)
        wait_until(lambda: model.names)
        [worker] = worker_pids()
        os.kill(worker, signal.SIGKILL)
        model.seconds = 0.0
        job = job_of(added, address)
        assert (job["state"], job["attempts"]) == ("succeeded", 2)
        kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        assert password.encode() not in kept
