"""`kill -9` at any instant: nothing is paid for twice, and the library ends up as if nothing had happened."""

import hashlib
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, text

from graph_store import NativeGraphIndex, Store
from paperscope.types import IndexedPaper

KILLS = 5
ADD = """
import dataclasses, sys
from pathlib import Path
from graph_store import Store
from paperscope.library import Library
from paperscope.models import FakeEmbedder, build_models
from paperscope.settings import load_settings
folder, paper, url = sys.argv[1:]
settings = load_settings(environ={}, overrides={"extract.model": "slow", "extract.base_url": url})
store = Store.open(Path(folder))
models = dataclasses.replace(build_models(settings, cache=store), embedder=FakeEmbedder())
with Library(store=store, settings=settings, models=models) as library:
    library.add(paper)
"""


@dataclass
class Asked:
    """What a server was asked: the hash of each request's body, in order."""

    bodies: list[str] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def slow_server() -> Iterator[Asked]:
    """A model server that takes its time; each reply carries its request's hash, so that it is known in the store."""
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            name = hashlib.sha256(body).hexdigest()
            asked.bodies.append(name)
            time.sleep(0.15)
            entity = {"mention": name, "type": "concept", "description": "", "chunk": "C1"}
            content = json.dumps({"entities": [entity], "relations": []})
            message = {"role": "assistant", "content": content}
            choices = [{"index": 0, "finish_reason": "stop", "message": message}]
            reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "slow", "choices": choices}
            payload = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_arguments: object) -> None:
            return

        def handle(self) -> None:
            try:
                super().handle()
            except (BrokenPipeError, ConnectionResetError):
                return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    asked.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield asked
    server.shutdown()
    thread.join()
    server.server_close()


def start(folder: Path, *, root: Path, url: str) -> "subprocess.Popen[bytes]":
    paper = root / "examples" / "paper" / "ner-report.pdf"
    command = [sys.executable, "-c", ADD, str(folder), str(paper), url]
    return subprocess.Popen(command, cwd=root)  # noqa: S603


def recorded(folder: Path, asked: Asked) -> set[str]:
    """Which requests' replies the store holds."""
    if not (folder / "library.sqlite").exists():
        return set()
    engine = create_engine(f"sqlite:///{folder / 'library.sqlite'}")
    with engine.connect() as connection:
        tables = set(connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'")).scalars())
        replies = connection.execute(text("SELECT * FROM calls")).all() if "calls" in tables else []
    engine.dispose()
    stored = str(replies)
    return {name for name in asked.bodies if name in stored}


def wait_for_call(process: "subprocess.Popen[bytes]", asked: Asked, before: int) -> None:
    """Until a process has made a call, or has ended without one."""
    while len(asked.bodies) == before and process.poll() is None:
        time.sleep(0.01)


def holding(folder: Path) -> tuple[list[IndexedPaper], list[str]]:
    """A library's papers, and the names of its crop files."""
    store = Store.open(folder)
    papers = [store.indexed(entry.id) for entry in store.entries()]
    NativeGraphIndex.open(store).close()
    store.sweep()
    store.close()
    return papers, sorted(file.name for file in (folder / "crops").rglob("*.png"))


def test_killed_adds_pay_nothing_twice_and_leave_nothing_behind(root: Path, tmp_path: Path, slow_server: Asked) -> None:
    assert start(tmp_path / "never", root=root, url=slow_server.url).wait(timeout=120) == 0
    slow_server.bodies.clear()
    moments = random.Random(7)
    folder = tmp_path / "killed"
    for _ in range(KILLS):
        paid, before = recorded(folder, slow_server), len(slow_server.bodies)
        process = start(folder, root=root, url=slow_server.url)
        wait_for_call(process, slow_server, before)
        time.sleep(moments.uniform(0.0, 0.6))
        process.kill()
        process.wait()
        assert not paid & set(slow_server.bodies[before:]), "a call that was paid for was made again"
    paid, before = recorded(folder, slow_server), len(slow_server.bodies)
    assert start(folder, root=root, url=slow_server.url).wait(timeout=120) == 0
    assert paid, "no kill came after a paid call"
    assert not paid & set(slow_server.bodies[before:])
    (one,), crops = holding(folder)
    (other,), expected = holding(tmp_path / "never")
    assert (one.paper, one.chunks, one.extraction) == (other.paper, other.chunks, other.extraction)
    assert np.array_equal(one.vectors, other.vectors)
    assert crops == expected
