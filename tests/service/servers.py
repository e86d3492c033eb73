"""Services in this process and in their own, their workers and jobs, and an address that nobody may call."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from fastapi import APIRouter, FastAPI

from paperscope_core.settings import Settings
from service.http.server import build_server
from service.http.shutdown import Shutdown
from tests.model_server import ModelServer
from tests.service.conftest import settings_in

__all__ = [
    "Canary",
    "ServiceProcess",
    "canary",
    "embedder_settings",
    "is_alive",
    "job_of",
    "markdown_paper",
    "model_settings",
    "serve_app",
    "settings_with_model",
    "upload",
    "variables",
    "wait_until",
    "worker_pids",
]


_SECONDS = 60


@contextmanager
def serve_app(settings: Settings, *, routes: APIRouter | None = None, ends_itself: bool = False) -> Iterator[str]:
    """Serve with these settings on a free port; yields the address, such as http://127.0.0.1:40123.

    `routes` are a test's own, beside the service's. At the end of the block, the service ends as on SIGTERM, or
    `ends_itself` as another ASGI server would.
    """
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = build_server(settings)
    app = server.config.app
    assert isinstance(app, FastAPI)
    if routes is not None:
        app.include_router(routes)

    def stop() -> None:
        server.should_exit = True

    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        end = time.monotonic() + _SECONDS
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            assert time.monotonic() < end, "the service did not start in time"
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        if ends_itself or not server.started:
            stop()
        else:
            shutdown: Shutdown = app.state.service.shutdown
            asyncio.run_coroutine_threadsafe(shutdown.end(stop), server.servers[0].get_loop())
        thread.join(_SECONDS)
        assert not thread.is_alive(), f"the service did not end:\n{_stacks(server)}"


def _stacks(server: uvicorn.Server) -> str:
    """What the tasks of a service and the threads of this process wait for."""
    tasks = asyncio.all_tasks(server.servers[0].get_loop()) if server.servers else ()
    text = StringIO()
    for task in tasks:
        task.print_stack(file=text)
    for frame in sys._current_frames().values():
        text.write("".join(["Thread\n", *traceback.format_stack(frame)]))
    return text.getvalue()


Job = Mapping[str, Any]


def embedder_settings(url: str, **more: object) -> dict[str, object]:
    """Settings with the model server as embedder, so that no process loads the local one."""
    return {"embed": {"model": "fake", "base_url": url, **more}}


def model_settings(url: str) -> dict[str, object]:
    """Settings with the model server in all roles but vision; each part of a paper takes a call."""
    roles = {role: {"model": "fake", "base_url": url} for role in ("extract", "answer")}
    return {**roles, **embedder_settings(url), "extract.tokens_per_call": 600, "calls.concurrency": 2}


def settings_with_model(folder: Path, model: ModelServer, **overrides: object) -> Settings:
    """The settings of a service over a library in this folder, with the model server."""
    return settings_in(folder, **{**model_settings(model.url), **overrides})


def markdown_paper(parts: int, name: str = "Tagger") -> bytes:
    """A Markdown paper; adding it takes a call for each part."""
    texts = (
        f"## Part {number}\n\n{f'Part {number} names the {name} and its Corpus. ' * 60}" for number in range(parts)
    )
    return "\n\n".join([f"# On {name}s", *texts]).encode()


def upload(address: str, data: bytes, name: str = "paper.md", **fields: str) -> httpx2.Response:
    return httpx2.post(f"{address}/v1/papers", files={"file": (name, data)}, data=fields, timeout=60)


def job_of(response: httpx2.Response, address: str, *, wait: float = 60.0) -> Job:
    """The job of an accepted request, after it has ended."""
    assert response.status_code == 202, response.text
    url = f"{address}{response.headers['location']}"
    found: Job = httpx2.get(url, params={"wait": wait}, timeout=wait + 30).json()
    return found


def wait_until(found: Callable[[], Any], *, seconds: float = 60.0) -> Any:
    """Wait until `found` returns something true; returns that. Waits ten times as long as it asks, to leave the
    processor to what it waits for."""
    ends = time.monotonic() + seconds
    asked = time.monotonic()
    while not (value := found()):
        assert time.monotonic() < ends, "it did not come to that"
        time.sleep(min(max(0.02, 10 * (time.monotonic() - asked)), 0.3))
        asked = time.monotonic()
    return value


def worker_pids(parent: int | None = None, *, module: bytes = b"service.jobs.worker_process") -> list[int]:
    """The running workers of this process, or of another one; or the children that run another module."""
    parent = os.getpid() if parent is None else parent
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            if module in command:
                above = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                found += [int(folder.name)] if above == parent else []
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def is_alive(process: int) -> bool:
    """Whether a process runs and is not a zombie."""
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class ServiceProcess:
    """`paperscope serve` in a process of its own."""

    def __init__(self, folder: Path, settings: Mapping[str, object], **environment: str) -> None:
        self._folder = folder
        given = {"OMP_NUM_THREADS": "1", **variables(settings), **environment}
        self._environment = {**os.environ, **given}
        self.address = ""

    def start(self) -> float:
        """Start it; returns the seconds until it responded."""
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            port = listening.getsockname()[1]
        begun = time.monotonic()
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "paperscope", "serve", "--port", str(port), "--library", str(self._folder)],
            env=self._environment,
            cwd=self._folder.parent,
        )
        # At the latest when the tests end, also if one fails.
        weakref.finalize(self, _kill, self.process)
        self.address = f"http://127.0.0.1:{port}"
        wait_until(self._answers)
        return time.monotonic() - begun

    def end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        return self.process.wait(60)

    def _answers(self) -> bool:
        assert self.process.poll() is None, "the service ended"
        try:
            return httpx2.get(f"{self.address}/healthz").status_code == 200
        except httpx2.ConnectError:
            return False


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def variables(settings: Mapping[str, object], prefix: str = "PAPERSCOPE_") -> dict[str, str]:
    """Settings as variables of the environment."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        variable = prefix + name.upper().replace(".", "__")
        found |= variables(value, f"{variable}__") if isinstance(value, Mapping) else {variable: str(value)}
    return found


class Canary:
    """`calls` are the paths that were requested from `url`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.calls: list[str] = []


@contextmanager
def canary() -> Iterator[Canary]:
    """Listen for calls throughout the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            bird.calls.append(self.path)
            self.send_error(404)

        do_POST = do_HEAD = do_GET  # noqa: N815 # the server's way

        def log_message(self, *_arguments: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    bird = Canary(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield bird
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
