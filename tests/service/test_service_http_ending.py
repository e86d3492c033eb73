"""How the service ends: on the first signal gently, on the second at once."""

import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from tests.model_server import ModelServer, serve
from tests.service.asking import QUESTION, events_of, model_reply

pytestmark = pytest.mark.slow


@contextmanager
def running(library: Path, model: ModelServer, *, seconds: float) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """`python -m paperscope serve`, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = library.parent / "paperscope.toml"
    settings.write_text(
        f'library = "{library}"\n'
        f'[answer]\nmodel = "m"\nbase_url = "{model.url}"\nretries = 0\n'
        f'[service]\nport = {port}\nshutdown_seconds = {seconds}\nlog = "json"\nkeys = "{library.parent / "keys"}"\n'
    )
    command = [sys.executable, "-m", "paperscope", "serve", "--config", str(settings)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 # our own
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: answers(f"{address}/readyz"), seconds=60)
        yield process, address
    finally:
        process.kill()
        process.communicate()


def answers(url: str) -> bool:
    try:
        return httpx2.get(url).status_code == 200
    except httpx2.TransportError:
        return False


def wait_until(true: Callable[[], object], *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


class Asking(threading.Thread):
    """A question that is asked meanwhile."""

    def __init__(self, address: str, body: Mapping[str, object]) -> None:
        super().__init__(daemon=True)
        self._address, self._body = address, body
        self.response: httpx2.Response | None = None

    def run(self) -> None:
        body = {"question": QUESTION, **self._body}
        with suppress(httpx2.TransportError):
            self.response = httpx2.post(f"{self._address}/v1/query", json=body, timeout=60)

    def answered(self) -> httpx2.Response:
        self.join(60)
        assert self.response is not None
        return self.response


@pytest.fixture
def library(example_library: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(example_library, tmp_path / "library"))


def test_what_is_under_way_is_finished_and_nothing_new_is_taken_on(library: Path) -> None:
    with serve(model_reply, seconds=4.0) as model, running(library, model, seconds=30.0) as (process, address):
        asking = Asking(address, {})
        asking.start()
        wait_until(lambda: model.bodies, seconds=30)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not answers(f"{address}/readyz"), seconds=3)
        ready, late = httpx2.get(f"{address}/readyz"), httpx2.get(f"{address}/v1/papers")
        alive = httpx2.get(f"{address}/healthz")
        assert asking.answered().status_code == 200
        assert process.wait(30) == 0
    assert (ready.status_code, late.status_code, alive.status_code) == (503, 503, 200)
    assert late.json()["type"] == "urn:paperscope:problem:ending"
    assert late.headers["retry-after"]


@pytest.mark.parametrize("stream", [False, True])
def test_what_takes_too_long_is_told_that_the_service_ends(library: Path, *, stream: bool) -> None:
    with serve(model_reply, seconds=30.0) as model, running(library, model, seconds=1.0) as (process, address):
        asking = Asking(address, {"stream": stream})
        asking.start()
        wait_until(lambda: model.bodies, seconds=30)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        response = asking.answered()
        assert process.wait(20) == 0
        assert time.monotonic() - began < 15
    problem = events_of(response)[-1][1] if stream else response.json()
    assert (problem["type"], problem["status"]) == ("urn:paperscope:problem:ending", 503)
    assert response.status_code == (200 if stream else 503)


def test_a_second_signal_ends_it_at_once(library: Path) -> None:
    with serve(model_reply, seconds=30.0) as model, running(library, model, seconds=60.0) as (process, address):
        Asking(address, {"stream": True}).start()
        wait_until(lambda: model.bodies, seconds=30)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not answers(f"{address}/readyz"), seconds=3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(3) == -signal.SIGTERM
