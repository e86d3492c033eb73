"""Asking over HTTP with a model: streams, errors of the model, time limits, disconnects."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from tests.model_server import Body, ModelServer, serve
from tests.service.http.requests import (
    QUESTION,
    copy_library,
    events_of,
    model_reply,
    post_question,
    serve_library,
    without_times,
)
from tests.service.servers import wait_until


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serve(model_reply) as server:
        server.streams = True
        yield server


@pytest.fixture
def library(example_library: Path, tmp_path: Path) -> Path:
    return copy_library(example_library, tmp_path)


def test_a_model_streams_what_it_answers_plainly(library: Path, tmp_path: Path, model: ModelServer) -> None:
    with serve_library(library, model=model) as address:
        events = events_of(post_question(address, stream=True))
    answer = events[-1][1]
    pieces = [data["text"] for kind, data in events if kind == "text"]
    assert len(pieces) > 2
    assert "".join(pieces) == answer["text"] == "The rank is 256 and alpha is 512."
    assert (answer["usage"]["calls"], answer["model"]) == (1, "m")
    (tmp_path / "other").mkdir()
    with serve_library(copy_library(library, tmp_path / "other"), model=model) as address:
        plain = post_question(address).json()
    # The call was kept in the library that was copied.
    assert plain["usage"] == {**answer["usage"], "calls": 0, "cached": 1, "prompt_tokens": 0, "completion_tokens": 0}
    assert without_times(plain) == without_times({**answer, "usage": plain["usage"]})


def other_each_time() -> Callable[[Body], str]:
    texts = iter(("A first text, which breaks off in its middle. " * 5, "Another text."))
    return lambda body: model_reply(body, text=next(texts))


@pytest.mark.slow
def test_a_restarted_text_is_marked_anew(library: Path) -> None:
    with serve(other_each_time()) as model, serve_library(library, model=model, **{"calls.retries": 1}) as address:
        model.streams, model.breaks = True, 1
        events = events_of(post_question(address, stream=True))
    told = [data for kind, data in events if kind == "text"]
    assert len(told) > 2
    text = ""
    for data in told:
        text = data["text"] if data["anew"] else text + data["text"]
    assert text == events[-1][1]["text"] == "Another text."
    assert sum(data["anew"] for data in told) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("refused", "status", "kind"),
    [(429, 503, "model-rate-limit"), (500, 503, "model-unavailable"), (401, 502, "model-refused")],
)
def test_a_model_that_fails_is_a_problem_of_the_service(
    library: Path, model: ModelServer, *, refused: int, status: int, kind: str
) -> None:
    model.refuse, model.retry_after = [refused, refused], 3600.0
    with serve_library(library, model=model) as address:
        plain, streamed = post_question(address), post_question(address, stream=True)
    assert (plain.status_code, plain.headers["content-type"]) == (status, "application/problem+json")
    assert plain.headers.get("retry-after") == {429: "3600", 500: "5"}.get(refused)
    problem = plain.json()
    assert problem["type"] == f"urn:paperscope:problem:{kind}"
    assert f"HTTP {refused}" in problem["detail"]
    events = events_of(streamed)
    assert events[-1] == ("error", problem)
    assert [name for name, _ in events[:-1]] == ["stage", "stage"]


@pytest.mark.slow
def test_a_model_that_breaks_off_ends_the_stream_with_an_error(library: Path, model: ModelServer) -> None:
    model.breaks = 1
    with serve_library(library, model=model) as address:
        events = events_of(post_question(address, stream=True))
    assert [kind for kind, _ in events].count("text") > 0
    assert (events[-1][0], events[-1][1]["status"]) == ("error", 503)


@pytest.mark.slow
def test_an_answer_that_takes_too_long_ends(library: Path, model: ModelServer) -> None:
    model.seconds = 2.0
    with serve_library(library, model=model, **{"service.question_seconds": 0.5}) as address:
        plain, streamed = post_question(address), post_question(address, stream=True)
    assert (plain.status_code, plain.json()["type"]) == (504, "urn:paperscope:problem:too-slow")
    assert "0.5 s" in plain.json()["detail"]
    assert events_of(streamed)[-1] == ("error", plain.json())


def disconnect(address: str, path: str, body: dict[str, object], model: ModelServer) -> None:
    """Send a request and hang up as soon as it has called the model."""
    sent, calls = json.dumps(body).encode(), len(model.bodies)
    host, port = address.removeprefix("http://").split(":")
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(sent)}"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + b"\r\n\r\n" + sent)
        wait_until(lambda: len(model.bodies) > calls)


@pytest.mark.slow
def test_a_client_that_disconnects_causes_no_further_model_call(library: Path) -> None:
    """A reply that violates its schema is requested again, but not if the client is gone."""
    asked = [
        (path, stream, f"{QUESTION} {path} {stream}")
        for path in ("/v1/query", "/v1/chat/completions")
        for stream in (False, True)
    ]
    with serve(lambda _: "{}", seconds=1.0) as model, serve_library(library, model=model) as address:
        for path, stream, question in asked:
            body = (
                {"question": question} if path == "/v1/query" else {"messages": [{"role": "user", "content": question}]}
            )
            disconnect(address, path, body | {"stream": stream}, model)
        # A further call would follow the reply at once.
        time.sleep(2.0)
        assert len(model.bodies) == len(asked)
        model.seconds = 0.0
        assert httpx2.get(f"{address}/healthz").status_code == 200
        # As here, where the client waits.
        assert post_question(address).status_code == 502
    assert len(model.bodies) == len(asked) + 2
