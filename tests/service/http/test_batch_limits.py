"""The size limit of batches over HTTP, and that reading a large one does not block other requests."""

import json
import threading
import time
from collections.abc import Iterator

import httpx2
import pytest

from tests.model_server import serve
from tests.service.conftest import settings_in
from tests.service.servers import embedder_settings, serve_app

MANY = [f"What is the recall of system {number}?" for number in range(200_000)]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    limits = tmp_path_factory.mktemp("limits")
    with (
        pytest.MonkeyPatch.context() as patch,
        serve() as model,
        serve_app(settings_in(limits, **embedder_settings(model.url))) as address,
    ):
        patch.setattr("service.http.routes.batch_routes.MAX_QUESTIONS", 3)
        yield address


def send(address: str, name: str, questions: list[str]) -> httpx2.Response:
    """Send questions in the format of a file name; "" is JSON."""
    if not name:
        return httpx2.post(f"{address}/v1/batch", json={"questions": questions}, timeout=60)
    lines = {
        "questions.jsonl": "\n".join(json.dumps({"question": one}) for one in questions),
        "questions.csv": "question,answer\n" + "\n".join(f"{one},1" for one in questions),
        "questions.txt": "\n".join(questions),
    }[name]
    return httpx2.post(f"{address}/v1/batch", files={"file": (name, lines.encode())}, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "questions.jsonl", "questions.csv", "questions.txt"])
def test_a_batch_of_too_many_questions_is_refused(address: str, name: str) -> None:
    assert send(address, name, MANY[:3]).status_code == 202
    refused = send(address, name, MANY[:4])
    problem = refused.json()
    assert (refused.status_code, problem["type"]) == (422, "urn:paperscope:problem:too-many-questions")
    assert "over 3 questions" in problem["detail"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "questions.jsonl", "questions.csv", "questions.txt"])
def test_a_huge_batch_is_refused_soon_and_meanwhile_others_are_answered(address: str, name: str) -> None:
    waits: list[float] = []
    ended = threading.Event()

    def look() -> None:
        with httpx2.Client() as client:
            while not ended.is_set():
                begun = time.monotonic()
                assert client.get(f"{address}/healthz").status_code == 200
                waits.append(time.monotonic() - begun)

    looking = threading.Thread(target=look)
    looking.start()
    begun = time.monotonic()
    refused = send(address, name, MANY)
    seconds = time.monotonic() - begun
    ended.set()
    looking.join()
    assert refused.status_code == 422
    assert (seconds < 10, max(waits) < 2) == (True, True), (seconds, max(waits))
