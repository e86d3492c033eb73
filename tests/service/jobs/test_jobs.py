"""Adding papers and batches over HTTP: valid requests become jobs, invalid ones are refused."""

import errno
import io
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from graph_store import Store
from service.jobs.housekeeping import clean_up_jobs
from service.jobs.requests import JobFiles
from tests.model_server import ModelServer, echo, kind_of, serve
from tests.service.servers import job_of, markdown_paper, serve_app, settings_with_model, upload, wait_until


def reply(body: Any) -> str:
    """Entities for the extractor, and no valid answer for a question."""
    return echo(body) if "response_format" in body and kind_of(body) == "entities" else "{}"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with serve(reply) as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def address(folder: Path, model: ModelServer) -> Iterator[str]:
    (folder / "papers").mkdir()
    allowed = {"service.folders": [str(folder / "papers")], "limits.max_file_mb": 1}
    with serve_app(settings_with_model(folder, model, **allowed)) as address:
        yield address


def files_of_jobs(folder: Path) -> list[Path]:
    return list((folder / "library" / "jobs").glob("*"))


@pytest.mark.slow
def test_an_uploaded_paper_becomes_a_job_that_is_followed_to_its_end(address: str, folder: Path) -> None:
    response = upload(address, markdown_paper(2), "../../On Taggers.md")
    queued = response.json()
    assert (queued["state"], queued["kind"], queued["name"]) == ("queued", "add", "../../On Taggers.md")
    job = job_of(response, address)
    assert (job["state"], job["error"], job["attempts"]) == ("succeeded", "", 1)
    assert job["result"]["outcome"] == "added"
    assert job["result"]["title"] == "On Taggers"
    assert job["result"]["elements"]["passage"] >= 2
    assert job["result"]["usage"]["calls"] == 2
    assert job["created"] <= job["started"] <= job["finished"]
    wait_until(lambda: not files_of_jobs(folder))
    again = job_of(upload(address, markdown_paper(2), "On Taggers.md"), address)
    assert (again["state"], again["result"]["outcome"], again["result"]["usage"]["calls"]) == (
        "succeeded",
        "unchanged",
        0,
    )
    newest = httpx2.get(f"{address}/v1/jobs", params={"limit": 1}).json()
    assert newest == [again]
    library = folder / "library"
    shared = [file for file in (library, *library.rglob("*")) if file.stat().st_mode & 0o077]
    assert shared == [], "only the owner may read a library"
    assert {file.name for file in library.glob("library.sqlite*")} > {"library.sqlite"}


@pytest.mark.slow
def test_a_newer_version_replaces_a_paper(address: str, folder: Path) -> None:
    first = job_of(upload(address, markdown_paper(1, "Chunker"), "chunker.md"), address)["result"]["paper"]
    assert upload(address, markdown_paper(2, "Chunker"), replaces="nothing").status_code == 404
    second = job_of(upload(address, markdown_paper(2, "Chunker"), "chunker.md", replaces=first), address)["result"]
    assert (second["outcome"], second["paper"] != first) == ("replaced", True)
    store = Store.open(folder / "library")
    assert first not in [entry.id for entry in store.entries()]
    store.close()


@pytest.mark.slow
def test_events_report_a_jobs_progress_and_end_with_it(address: str) -> None:
    response = upload(address, markdown_paper(3, "Parser"))
    with httpx2.stream("GET", f"{address}{response.headers['location']}/events", timeout=60) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = [line.partition(": ")[::2] for line in stream.iter_lines() if line]
    events = [value for field, value in lines if field == "event"]
    jobs = [json.loads(value) for field, value in lines if field == "data"]
    assert events[-1] == "end"
    assert set(events[:-1]) <= {"progress"}
    assert jobs[-1]["state"] == "succeeded"
    assert jobs[-1] == httpx2.get(f"{address}{response.headers['location']}").json()


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.pdf", "is empty"),
        (b"MZ\x90\x00", "a.pdf", "is no PDF file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc", "old Office file"),
        (b"<?xml version='1.0'?><svg/>", "a.xml", "root element 'svg'"),
    ],
)
def test_an_upload_that_is_no_paper_is_refused_at_once(
    address: str, folder: Path, data: bytes, name: str, reason: str
) -> None:
    response = upload(address, data, name)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert reason in response.json()["detail"]
    assert files_of_jobs(folder) == []


@pytest.mark.slow
def test_invalid_bodies_are_refused_with_a_reason(address: str) -> None:
    papers = f"{address}/v1/papers"
    assert httpx2.post(papers, content=b"%PDF-", headers={"content-type": "application/pdf"}).status_code == 415
    assert "body.file" in httpx2.post(papers, files={"paper": ("a.md", b"# A")}).json()["detail"]
    assert "body.path" in httpx2.post(papers, json={"file": "a"}).json()["detail"]
    broken = {"content-type": "multipart/form-data; boundary=x"}
    assert httpx2.post(papers, content=b"nothing of that kind", headers=broken).status_code == 400
    assert httpx2.get(f"{address}/v1/jobs/job-{'0' * 24}").status_code == 404
    assert httpx2.get(f"{address}/v1/jobs/..%2f..%2fkeys").status_code in (404, 422)


@pytest.mark.slow
def test_what_is_too_large_is_refused_before_it_is_read_and_cut_off_where_it_does_not_say_so(
    address: str, folder: Path
) -> None:
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as client:
        kind = "multipart/form-data; boundary=x"
        head = f"POST /v1/papers HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: 2000000000\r\n\r\n"
        client.sendall(head.encode())
        told = client.makefile("rb").read().decode()
    assert told.startswith("HTTP/1.1 413 ")
    assert "limit of 1 MB" in told
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        yield b'--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        while taken < 100:
            taken += 1
            yield b"a" * 1_000_000

    # The service may close the connection while more is sent.
    with suppress(httpx2.TransportError):
        assert httpx2.post(f"{address}/v1/papers", content=endless(), headers={"content-type": kind}).status_code == 413
    assert taken < 30
    assert files_of_jobs(folder) == []


@pytest.mark.slow
def test_a_full_disk_is_said_and_nothing_is_left(address: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    response = upload(address, markdown_paper(1))
    assert (response.status_code, response.json()["type"]) == (507, "urn:paperscope:problem:store-full")
    assert files_of_jobs(folder) == []
    before = len(httpx2.get(f"{address}/v1/jobs").json())
    monkeypatch.undo()
    job_of(upload(address, markdown_paper(1)), address)
    assert len(httpx2.get(f"{address}/v1/jobs").json()) == before + 1


@pytest.mark.slow
def test_questions_that_are_none_are_refused_at_once_and_a_batch_without_papers_ends(
    tmp_path: Path, model: ModelServer
) -> None:
    with serve_app(settings_with_model(tmp_path, model)) as address:
        batch = f"{address}/v1/batch"
        for bad in ('{"questions": []}', '{"questions": [{"query": "x"}]}', '{"questions": [" "]}', "{}", "{"):
            response = httpx2.post(batch, content=bad, headers={"content-type": "application/json"})
            assert response.status_code == 422
        assert httpx2.post(batch, files={"file": ("a.jsonl", b"\xff\xfe")}).status_code == 422
        response = httpx2.post(batch, files={"file": ("a.csv", b"question,answer\nWhat is it?,a\nWhy?,b\n")})
        assert httpx2.get(f"{address}{response.headers['location']}/results/keys.json").status_code == 422
        job = job_of(response, address)
        assert (job["state"], job["result"]["questions"], job["done"], job["total"]) == ("succeeded", 2, 2, 2)
        results = f"{address}{response.headers['location']}/results"
        rows = [json.loads(line) for line in httpx2.get(f"{results}/answers.jsonl").text.splitlines()]
        assert [row["question"] for row in rows] == ["What is it?", "Why?"]
        assert httpx2.get(f"{results}/answers.csv").headers["content-type"].startswith("text/csv")
        assert "What is it?" in httpx2.get(f"{results}/report.md").text
        listed = httpx2.get(f"{address}{response.headers['location']}/rows").json()
        assert listed["scored"]
        assert [(row["question"], row["gold"]) for row in listed["rows"]] == [("What is it?", "a"), ("Why?", "b")]
        whole = httpx2.get(f"{address}{response.headers['location']}/rows/1").json()
        assert (whole["question"], whole["answer"]["status"]) == ("Why?", rows[1]["status"])
        assert httpx2.get(f"{address}{response.headers['location']}/rows/2").status_code == 404
        assert httpx2.get(f"{results}/images/a-table-1.png").status_code == 404


@pytest.mark.slow
def test_too_many_waiting_jobs_are_refused_with_retry_after(
    tmp_path: Path, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.http.uploads._MAX_WAITING_JOBS", 2)
    with serve_app(settings_with_model(tmp_path, model)) as address:
        store = Store.open(tmp_path / "library")
        for _ in range(2):
            # Not submitted over HTTP, so the worker is not notified.
            store.jobs.create("add", '{"name": "a.md", "path": "/absent"}')
        store.close()
        for response in (
            upload(address, markdown_paper(1)),
            httpx2.post(f"{address}/v1/batch", json={"questions": ["Why?"]}),
        ):
            assert (response.status_code, response.json()["type"]) == (429, "urn:paperscope:problem:too-many-jobs")
            assert int(response.headers["retry-after"]) > 0


def test_old_jobs_and_orphaned_files_are_deleted(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    files = JobFiles(tmp_path)
    waiting, old = (store.jobs.create("batch", "{}").id for _ in range(2))
    store.jobs.cancel(old)
    ended = store.jobs.create("add", "{}").id
    store.jobs.cancel(ended)
    for job in (waiting, old, ended, store.jobs.new_id()):
        files.store(job, io.BytesIO(b"x"), file="upload.md")
    assert any(clean_up_jobs(tmp_path, keep_days=30))
    assert len(files.jobs()) == 4, "who hands over needs a moment"
    long_ago = time.time() - 3600
    for job in files.jobs():
        os.utime(files.folder(job), (long_ago, long_ago))
    assert any(clean_up_jobs(tmp_path, keep_days=30))
    assert sorted(files.jobs()) == sorted([waiting, old])
    assert any(clean_up_jobs(tmp_path, keep_days=0))
    assert files.jobs() == [waiting]
    store.jobs.cancel(waiting)
    store.close()
    assert not any(clean_up_jobs(tmp_path, keep_days=30))
    assert not any(clean_up_jobs(tmp_path / "absent", keep_days=30))
    assert not (tmp_path / "absent").exists()
