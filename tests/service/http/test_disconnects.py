"""Clients that disconnect in the middle of a request leave nothing behind in the service."""

import shutil
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from paperscope_core.settings import load_settings
from tests.model_server import ModelServer, serve
from tests.service.http.requests import QUESTION, model_reply, post_question
from tests.service.servers import model_settings, serve_app, wait_until

TIMES = 5


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serve(model_reply) as server:
        server.streams = True
        yield server


@pytest.fixture
def folder(example_library: Path, tmp_path: Path) -> Path:
    shutil.copytree(example_library, tmp_path / "library")
    return tmp_path


@pytest.fixture
def address(folder: Path, model: ModelServer) -> Iterator[str]:
    answer = model_settings(model.url)["answer"]
    given = {"library": str(folder / "library"), "service.keys": str(folder / "keys.json"), "answer": answer}
    with serve_app(load_settings(environ={}, overrides=given)) as address:
        assert post_question(address).status_code == 200
        yield address


def gauge(address: str, name: str) -> float:
    lines = httpx2.get(f"{address}/metrics").text.splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))


def leave(address: str, head: str, body: bytes, *, when: Callable[[], object]) -> None:
    """Send a request, or its beginning, and disconnect as soon as something is true."""
    where = urlsplit(address)
    assert where.port is not None
    with socket.create_connection(("127.0.0.1", where.port), timeout=10) as client:
        client.sendall(f"{head}\r\nHost: 127.0.0.1\r\nContent-Type: ".encode() + body)
        wait_until(when)


def passed(moment: float) -> bool:
    return time.monotonic() > moment


def has_more(items: Sequence[object], count: int) -> bool:
    return len(items) > count


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only here open files can be counted")
def test_a_client_that_disconnects_leaves_nothing_behind(address: str, folder: Path, model: ModelServer) -> None:
    before, model.seconds = handles(), 1.0
    form = b"multipart/form-data; boundary=x\r\nContent-Length: 9000000\r\n\r\n--x\r\ncontent-disposition: form-data; "
    form += b'name="file"; filename="a.md"\r\n\r\n' + b"a" * 3_000_000
    for number in range(TIMES):
        # The service reads the upload for a moment.
        leave(address, "POST /v1/papers HTTP/1.1", form, when=partial(passed, time.monotonic() + 0.3))
        for stream in ("true", "false"):
            body = f'{{"question": "{QUESTION} {number} {stream}", "stream": {stream}}}'.encode()
            sent = b"application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            calls = len(model.bodies)
            leave(address, "POST /v1/query HTTP/1.1", sent, when=partial(has_more, model.bodies, calls))
    model.seconds = 0.0
    wait_until(lambda: gauge(address, "paperscope_questions_running") == 0)
    assert gauge(address, "paperscope_questions_waiting") == 0
    # Connections to the model, to the service and of the store are kept open for the next request.
    wait_until(lambda: handles() <= before + 30)
    assert not list((folder / "library" / "jobs").glob("*"))
    assert httpx2.get(f"{address}/v1/jobs").json() == []
    assert post_question(address).status_code == 200


def test_a_download_that_is_broken_off_leaves_no_file_open(address: str) -> None:
    [paper] = httpx2.get(f"{address}/v1/papers").json()["papers"]
    before = handles()
    for path in (f"/v1/papers/{paper['id']}/file", f"/v1/papers/{paper['id']}/elements?limit=1000"):
        for _ in range(10 * TIMES):
            leave(address, f"GET {path} HTTP/1.1", b"\r\n\r\n", when=lambda: True)
    # The store keeps up to eight connections open, of three files each.
    wait_until(lambda: handles() <= before + 26)
