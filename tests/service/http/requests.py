"""What the tests of routes share: questions, events, replies of a model, raw requests."""

import json
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tests.model_server import Body, ModelServer
from tests.service.conftest import settings_of
from tests.service.servers import serve_app

__all__ = [
    "QUESTION",
    "Event",
    "copy_library",
    "events_of",
    "model_reply",
    "post",
    "post_question",
    "problem_in",
    "send_raw",
    "serve_library",
    "status_of",
    "without_times",
]


QUESTION = "What LoRA rank and alpha were used to fine-tune Qwen2.5-7B?"

Event = tuple[str, Any]


@contextmanager
def serve_library(library: Path, *, model: ModelServer | None = None, **overrides: object) -> Iterator[str]:
    """Serve a library, with a model for answers if one is given."""
    if model is not None:
        overrides = {"answer.model": "m", "answer.base_url": model.url, "calls.retries": 0, **overrides}
    with serve_app(settings_of(library, **overrides)) as address:
        yield address


def copy_library(library: Path, folder: Path) -> Path:
    """A copy of a library, with its own cache of model calls."""
    return Path(shutil.copytree(library, folder / "library"))


def post(address: str, path: str, body: Mapping[str, Any], **headers: str) -> httpx2.Response:
    # Not `json=`, which refuses lone surrogates.
    sent = {"Content-Type": "application/json", **headers}
    return httpx2.post(address + path, content=json.dumps(body), headers=sent, timeout=120)


def post_question(address: str, **body: Any) -> httpx2.Response:
    return post(address, "/v1/query", {"question": QUESTION, **body})  # noqa: S113  (`post` is ours; it has a timeout)


def events_of(response: httpx2.Response) -> list[Event]:
    """The events of a stream without comments."""
    assert response.headers["content-type"].startswith("text/event-stream"), response.text
    events = []
    for block in response.text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            events.append((fields.get("event", ""), json.loads(fields["data"])))
    return events


def model_reply(body: Body, *, text: str = "The rank is 256 and alpha is 512.") -> str:
    """A model's answer that cites the first source; a message of a conversation is understood as `QUESTION`."""
    if body["response_format"]["json_schema"]["name"] == "question":
        return json.dumps({"question": QUESTION})
    return json.dumps({"status": "answered", "answer": text, "claims": [{"text": text, "evidence": ["S0"]}]})


def without_times(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer without its durations."""
    stages = [stage["stage"] for stage in answer["stages"]]
    return {**answer, "seconds": 0, "stages": stages}


def send_raw(address: str, data: bytes, *, end: bool = True) -> bytes:
    """All bytes received in reply to these bytes; `end` says that no more are sent."""
    where = urlsplit(address)
    assert where.hostname is not None
    assert where.port is not None
    with socket.create_connection((where.hostname, where.port), timeout=10) as connection:
        answer = b""
        with suppress(OSError):
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            while part := connection.recv(65536):
                answer += part
        return answer


def problem_in(answer: bytes) -> dict[str, Any]:
    problem: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return problem


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0
