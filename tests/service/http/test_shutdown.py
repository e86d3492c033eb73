"""The shutdown of the service: gracefully on the first signal, at once on the second."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope_core.settings import load_settings
from service.http.shutdown import CLOSING_SECONDS
from tests.model_server import ModelServer, serve
from tests.service.http.requests import QUESTION, events_of, model_reply
from tests.service.servers import embedder_settings, worker_pids

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(library: Path, model: ModelServer, *, seconds: float) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """`python -m paperscope serve`, and its address."""
    port = free_port()
    settings = library.parent / "paperscope.toml"
    embedder = library.parent / "embedder.toml"
    settings.write_text(
        f'library = "{library}"\n{embedder.read_text() if embedder.exists() else ""}'
        f'[answer]\nmodel = "m"\nbase_url = "{model.url}"\n[calls]\nretries = 0\n'
        f'[service]\nport = {port}\nshutdown_seconds = {seconds}\nlog = "json"\nkeys = "{library.parent / "keys"}"\n'
    )
    command = [sys.executable, "-m", "paperscope", "serve", "--config", str(settings)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 # our own
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers(f"{address}/readyz"), seconds=180)
        yield process, address
    finally:
        process.kill()
        process.communicate()


def answers(url: str) -> bool:
    try:
        return httpx2.get(url).status_code == 200
    except httpx2.TransportError:
        return False


def wait_for(true: Callable[[], object], *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


class Asking(threading.Thread):
    """A question that is asked in a thread."""

    def __init__(self, address: str, body: Mapping[str, object]) -> None:
        super().__init__(daemon=True)
        self._address, self._body = address, body
        self.response: httpx2.Response | None = None

    def run(self) -> None:
        body = {"question": QUESTION, **self._body}
        with suppress(httpx2.TransportError):
            self.response = httpx2.post(f"{self._address}/v1/query", json=body, timeout=180)

    def answered(self) -> httpx2.Response:
        self.join(180)
        assert self.response is not None
        return self.response


@pytest.fixture(scope="module")
def remote_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A library of one short paper whose embedder is a server, beside a file with the settings of that."""
    folder = tmp_path_factory.mktemp("remote")
    with serve() as embedder:
        embed = embedder_settings(embedder.url)["embed"]
        assert isinstance(embed, dict)
        lines = (f"{name} = {json.dumps(value)}\n" for name, value in embed.items())
        (folder / "embedder.toml").write_text(f"[embed]\n{''.join(lines)}")
        (folder / "paper.md").write_text("# Tuning\n\nLoRA rank 256 and alpha 512 were used to fine-tune Qwen2.5-7B.\n")
        with Library.open(
            folder / "library", settings=load_settings(environ={}, overrides={"embed": embed})
        ) as library:
            library.add(folder / "paper.md")
        yield folder / "library"


@pytest.fixture
def library(remote_library: Path, tmp_path: Path) -> Path:
    shutil.copy(remote_library.parent / "embedder.toml", tmp_path)
    return Path(shutil.copytree(remote_library, tmp_path / "library"))


def test_requests_in_progress_finish_and_new_ones_are_refused(library: Path) -> None:
    with serve(model_reply, seconds=4.0) as model, running(library, model, seconds=30.0) as (process, address):
        asking = Asking(address, {})
        asking.start()
        wait_for(lambda: model.bodies, seconds=120)
        # The other signal that ends it is that of the following tests.
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: not answers(f"{address}/readyz"), seconds=3)
        ready, late = httpx2.get(f"{address}/readyz"), httpx2.get(f"{address}/v1/papers")
        alive = httpx2.get(f"{address}/healthz")
        assert asking.answered().status_code == 200
        assert process.wait(30) == 0
    assert (ready.status_code, late.status_code, alive.status_code) == (503, 503, 200)
    assert late.json()["type"] == "urn:paperscope:problem:ending"
    assert late.headers["retry-after"]


def test_requests_and_jobs_that_hang_share_the_grace_period_and_are_cancelled_or_requeued(library: Path) -> None:
    seconds = 3.0
    with serve(model_reply, seconds=120.0) as model, running(library, model, seconds=seconds) as (process, address):
        plain, streamed = (
            Asking(address, {"question": f"{QUESTION} {stream}", "stream": stream}) for stream in (False, True)
        )
        for asking in (plain, streamed):
            asking.start()
        questions = {"file": ("q.txt", b"Which rank was used for the second model?\n")}
        job = httpx2.post(f"{address}/v1/batch", files=questions).headers["location"]
        wait_for(lambda: len(model.bodies) == 3, seconds=120)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        responses = plain.answered(), streamed.answered()
        wait_for(lambda: not worker_pids(process.pid), seconds=4)
        assert process.wait(40) == 0
        # A busy machine takes a while to end a process.
        assert time.monotonic() - began < seconds + CLOSING_SECONDS + 5
    assert [response.status_code for response in responses] == [503, 200]
    for problem in (responses[0].json(), events_of(responses[1])[-1][1]):
        assert (problem["type"], problem["status"]) == ("urn:paperscope:problem:ending", 503)
    with closing(Store.open(library)) as store:
        again = store.jobs.get(job.rpartition("/")[2])
    assert (again.state, again.attempts) == ("queued", 0), "it is not blamed for the end"


HANGING = """
import asyncio, sys, time
from fastapi import APIRouter
from paperscope_core.settings import load_settings
from service.http import app, serve

route = APIRouter()

@route.get("/hanging")
async def hanging():
    await asyncio.to_thread(time.sleep, 60)

app.ROUTERS += (route,)
serve(load_settings(environ={}, overrides={
    "library": sys.argv[1], "service.keys": sys.argv[1] + "-keys", "service.port": int(sys.argv[2]),
    "service.shutdown_seconds": 0.5,
}))
"""


def test_a_thread_that_never_ends_does_not_keep_the_process_alive(root: Path, tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-c", HANGING, str(tmp_path / "library"), str(port)]
    with subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 # our own
        address = f"http://127.0.0.1:{port}"
        wait_for(lambda: answers(f"{address}/readyz"), seconds=180)
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET /hanging HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            time.sleep(0.5)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=40)
        assert time.monotonic() - began < 0.5 + CLOSING_SECONDS + 2.0
        assert process.returncode == 1
        assert "does not end" in said


def test_a_second_signal_ends_it_at_once(library: Path) -> None:
    with serve(model_reply, seconds=30.0) as model, running(library, model, seconds=60.0) as (process, address):
        Asking(address, {"stream": True}).start()
        wait_for(lambda: model.bodies, seconds=120)
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: not answers(f"{address}/readyz"), seconds=3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(3) == -signal.SIGTERM
