"""A full disk: each request and job reports it, nothing is half stored, and all works again once there is space."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx2
import pytest

from tests.model_server import ModelServer, serve
from tests.service.http.requests import events_of, post
from tests.service.jobs.killing import reply
from tests.service.servers import job_of, markdown_paper, serve_app, settings_with_model, upload, wait_until

pytestmark = pytest.mark.slow
QUESTIONS = [f"What is the Tagger of part {number}?" for number in range(24)]
_WHILE_FULL = 4.0
_AT_ONCE = 4


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small file system for the library and for incomplete uploads."""
    folder = tmp_path_factory.mktemp("disk")
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    command = [mount, "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:  # noqa: S603 # our own
        pytest.skip("this machine does not let file systems be mounted")
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
        subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S603, S607 # our own


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with serve(reply) as server:
        yield server


@pytest.fixture(scope="module")
def address(disk: Path, model: ModelServer) -> Iterator[str]:
    with serve_app(settings_with_model(disk, model)) as address:
        assert job_of(upload(address, markdown_paper(2)), address)["state"] == "succeeded"
        assert post(address, "/v1/query", {"question": "What is the Corpus?"}).status_code == 200
        yield address


def paper_count(address: str) -> int:
    return int(httpx2.get(f"{address}/v1/papers").json()["total"])


def fill(disk: Path) -> None:
    with (disk / "ballast").open("ab", buffering=0) as ballast:
        for size in (1_000_000, 4096, 1):
            with suppress(OSError):
                while True:
                    ballast.write(b"x" * size)


def make_space(disk: Path) -> None:
    (disk / "ballast").unlink()


def files(disk: Path) -> list[Path]:
    """All files, except those that come and go with open databases."""
    return sorted(
        file for file in disk.rglob("*") if file.is_file() and file.suffix in (".md", ".jsonl", ".tmp", ".png")
    )


def is_sound(disk: Path) -> bool:
    with closing(sqlite3.connect(disk / "library" / "library.sqlite")) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))


def test_requests_report_a_full_disk_and_succeed_later(disk: Path, address: str, model: ModelServer) -> None:
    before, papers, calls = files(disk), paper_count(address), len(model.names)
    fill(disk)
    small, large = upload(address, markdown_paper(1, "Parser")), upload(address, b"x" * 3_000_000)
    batch = post(address, "/v1/batch", {"questions": QUESTIONS})
    query = post(address, "/v1/query", {"question": QUESTIONS[0]})
    chat = post(address, "/v1/chat/completions", {"messages": [{"role": "user", "content": QUESTIONS[0]}]})
    streamed = events_of(post(address, "/v1/query", {"question": QUESTIONS[0], "stream": True}))[-1]
    responses = [small, large, batch, query, chat]
    assert [response.status_code for response in responses] == [507] * 5
    assert all("disk is full" in response.text for response in responses)
    assert (streamed[0], streamed[1]["status"]) == ("error", 507)
    assert not any(str(disk) in text for text in [str(streamed), *(response.text for response in responses)])
    # Nothing was paid for that could not be stored.
    assert len(model.names) == calls
    # Reading still works.
    assert paper_count(address) == papers
    assert post(address, "/v1/query", {"question": "What is the Corpus?"}).status_code == 200
    make_space(disk)
    assert files(disk) == before
    assert post(address, "/v1/query", {"question": QUESTIONS[0]}).status_code == 200
    assert job_of(upload(address, markdown_paper(1, "Parser")), address)["state"] == "succeeded"
    assert is_sound(disk)


def test_a_paper_is_not_half_stored_on_a_full_disk(disk: Path, address: str, model: ModelServer) -> None:
    before, papers, calls = files(disk), paper_count(address), len(model.names)
    model.seconds = 1.0
    response = upload(address, markdown_paper(4, "Parser"))
    wait_until(lambda: len(model.names) >= calls + 2)
    fill(disk)
    time.sleep(_WHILE_FULL)
    make_space(disk)
    model.seconds = 0.0
    job = job_of(response, address)
    if job["state"] == "failed":
        assert "the disk is full; free some space" in job["error"]
        wait_until(lambda: files(disk) == before)
        job = job_of(upload(address, markdown_paper(4, "Parser")), address)
    assert job["state"] == "succeeded"
    assert paper_count(address) == papers + 1
    assert is_sound(disk)


def test_a_batch_on_a_full_disk_pays_for_nothing_that_cannot_be_stored(
    disk: Path, address: str, model: ModelServer
) -> None:
    calls, model.seconds = len(model.names), 0.3
    response = post(address, "/v1/batch", {"questions": QUESTIONS})
    wait_until(lambda: len(model.names) >= calls + 2)
    fill(disk)
    calls, model.seconds = len(model.names), 0.0
    time.sleep(_WHILE_FULL)
    assert len(model.names) - calls <= _AT_ONCE
    make_space(disk)
    job = job_of(response, address)
    if job["state"] == "failed":
        assert "disk is full" in job["error"]
        job = job_of(post(address, "/v1/batch", {"questions": QUESTIONS}), address)
    assert (job["state"], job["result"]["errors"]) == ("succeeded", 0)
    assert is_sound(disk)
