"""What the tests of the routes that ask share: questions, events, and what a model replies."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from paperscope.settings import load_settings
from tests.model_server import Body, ModelServer
from tests.service.serving import serving

__all__ = ["QUESTION", "Event", "ask", "copied", "events_of", "model_reply", "post", "served", "timeless"]

QUESTION = "What LoRA rank and alpha were used to fine-tune Qwen2.5-7B?"

Event = tuple[str, Any]


@contextmanager
def served(library: Path, *, model: ModelServer | None = None, **overrides: object) -> Iterator[str]:
    """Serve a library, answered by a model where there is one."""
    given: dict[str, object] = {"library": str(library), "service.keys": str(library.parent / "keys.json"), **overrides}
    if model is not None:
        given = {"answer.model": "m", "answer.base_url": model.url, "answer.retries": 0, **given}
    with serving(load_settings(environ={}, overrides=given)) as address:
        yield address


def copied(library: Path, folder: Path) -> Path:
    """A library of one's own, whose paid calls nobody else sees."""
    return Path(shutil.copytree(library, folder / "library"))


def post(address: str, path: str, body: Mapping[str, Any], **headers: str) -> httpx2.Response:
    # Not `json`, which refuses half characters.
    sent = {"Content-Type": "application/json", **headers}
    return httpx2.post(address + path, content=json.dumps(body), headers=sent, timeout=120)


def ask(address: str, **body: Any) -> httpx2.Response:
    return post(address, "/v1/query", {"question": QUESTION, **body})


def events_of(response: httpx2.Response) -> list[Event]:
    """The events of a stream, comments left out."""
    assert response.headers["content-type"].startswith("text/event-stream"), response.text
    events = []
    for block in response.text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            events.append((fields.get("event", ""), json.loads(fields["data"])))
    return events


def model_reply(body: Body, *, text: str = "The rank is 256 and alpha is 512.") -> str:
    """What a model might answer, resting on the first source."""
    return json.dumps({"status": "answered", "answer": text, "claims": [{"text": text, "evidence": ["S0"]}]})


def timeless(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer without what was measured."""
    stages = [stage["stage"] for stage in answer["stages"]]
    return {**answer, "seconds": 0, "stages": stages}
