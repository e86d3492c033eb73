"""The log of requests, which contains no secret."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from fastapi import APIRouter

from paperscope_core.errors import StoreError
from service.http.auth import CallerOf
from service.keys import KeyStore
from service.logs import configure_logs, event_log
from tests.model_server import serve
from tests.service.conftest import settings_in
from tests.service.servers import embedder_settings, serve_app

SECRET = "sesame_open_9f31"  # noqa: S105 # a test's


@pytest.fixture
def log() -> Iterator[Callable[[str], io.StringIO]]:
    """Redirects the logs of this process into a string for the test."""
    root = logging.getLogger()
    names = ("", "paperscope", "service", "uvicorn", "uvicorn.access")
    before, levels = list(root.handlers), {name: logging.getLogger(name).level for name in names}

    def write(form: str) -> io.StringIO:
        text = io.StringIO()
        configure_logs(form, stream=text)
        return text

    yield write
    root.handlers = before
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def routes() -> APIRouter:
    router = APIRouter()

    @router.post("/v1/boom/{name}")
    async def boom(name: str, caller: CallerOf) -> None:
        try:
            int(SECRET)
        except ValueError as error:
            raise RuntimeError(f"the question was {SECRET}") from error

    return router


def events(text: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.getvalue().splitlines()]


def test_a_request_is_one_line_with_its_route_not_its_path(tmp_path: Path, log: Callable[[str], io.StringIO]) -> None:
    text = log("json")
    with serve_app(settings_in(tmp_path)) as address:
        headers = {"X-Request-ID": "0123-from-client"}
        missing = httpx2.get(f"{address}/v1/jobs/job-{'0' * 24}?wait=0", headers=headers)
        httpx2.get(f"{address}/v1/nothing/of/this")
        httpx2.get(f"{address}/healthz")
    assert missing.status_code == 404
    one, other = (event for event in events(text) if event["event"] == "request")
    assert one["request_id"] == "0123-from-client"
    assert (one["method"], one["route"], one["status"]) == ("GET", "/v1/jobs/{job}", 404)
    assert (one["caller"], one["problem"], one["level"]) == ("local", "unknown-job", "info")
    assert one["bytes"] == len(missing.content)
    assert isinstance(one["seconds"], float)
    assert str(one["time"]).endswith("Z")
    assert (other["route"], other["status"]) == ("", 404)


def test_the_text_form_is_one_line_an_event(tmp_path: Path, log: Callable[[str], io.StringIO]) -> None:
    text = log("text")
    with serve_app(settings_in(tmp_path), routes=routes()) as address:
        httpx2.post(f"{address}/v1/boom/1")
    lines = text.getvalue().splitlines()
    assert all(line.startswith("time=") for line in lines), lines
    assert any("event=request method=POST" in line for line in lines), lines


def test_no_value_breaks_its_line_or_controls_a_terminal(log: Callable[[str], io.StringIO]) -> None:
    text = log("text")
    event_log("service").info("a\x1b[31m\nb", value="c\x1b]8;;\x07\r\ntime=d \x9b2J")
    assert text.getvalue().isascii()
    [line] = text.getvalue().splitlines()
    assert line.isprintable()
    assert 'event=a[31m value="c]8;; time=d 2J"' in line


def test_an_unexpected_error_is_logged_with_its_traceback_and_request_id(
    tmp_path: Path, log: Callable[[str], io.StringIO]
) -> None:
    text = log("json")
    with serve_app(settings_in(tmp_path), routes=routes()) as address:
        response = httpx2.post(f"{address}/v1/boom/1")
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-content-type-options"] == "nosniff"
    told = {str(event["event"]).split(":")[0]: event for event in events(text)}
    assert told["request"]["problem"] == "internal-error"
    assert told["request"]["level"] == "error"
    error = told["Exception in ASGI application"]
    assert error["request_id"] == told["request"]["request_id"] == response.headers["x-request-id"]
    assert "RuntimeError at" in str(error["event"])
    assert "boom; caused by ValueError at test_logs.py" in str(error["event"])
    assert SECRET not in text.getvalue()


def send_secrets(address: str, headers: dict[str, str]) -> list[httpx2.Response]:
    """Requests with the secret in every place that a response does not quote (as it does path and origin)."""
    url = f"{address}/v1"
    query = {"key": SECRET, "token": SECRET, "wait": SECRET}
    turn = {"question": SECRET, "answer": SECRET}
    chat = [{"role": "system", "content": SECRET}, {"role": "user", "content": SECRET}]
    upload = {"file": ("paper.pdf", SECRET.encode(), "application/pdf")}
    with httpx2.Client(headers=headers, timeout=60) as client:
        return [
            client.post(f"{url}/query", json={"question": SECRET, "history": [turn]}, params=query),
            client.post(f"{url}/query", json={"question": SECRET, "stream": True}),
            client.post(f"{url}/query", json={"question": [SECRET], "stream": SECRET}),
            client.post(f"{url}/query", content=f'{{"question": "{SECRET}'),
            client.post(f"{url}/retrieve", json={"question": SECRET}),
            client.post(f"{url}/chat/completions", json={"model": "paperscope", "messages": chat}),
            client.post(f"{url}/papers", files=upload, data={"password": SECRET}),
            client.post(f"{url}/papers", json={"path": "/paper.pdf", "password": SECRET}),
            client.post(f"{url}/batch", json={"questions": [SECRET]}),
            client.post(f"{url}/boom/1", json={"password": SECRET}, params=query),
            client.get(f"{url}/jobs/job-{'0' * 24}", params=query),
            client.request(SECRET, f"{url}/jobs"),
            client.get(f"{url}/{SECRET}"),
            client.get(f"{url}/jobs/{SECRET}"),
        ]


@pytest.mark.slow
@pytest.mark.parametrize("keyed", [True, False])
def test_no_secret_of_a_request_gets_into_the_log(
    tmp_path: Path, log: Callable[[str], io.StringIO], keyed: bool
) -> None:
    text = log("json")
    own = "none"
    if keyed:
        own = KeyStore.open(tmp_path / "keys.json").create("lab", tmp_path / "lab")[1].get_secret_value()
    planted = dict.fromkeys(
        ("Cookie", "Referer", "User-Agent", "X-Request-ID", "traceparent", "Accept", "X-Forwarded-For"), SECRET
    )
    with (
        serve() as model,
        serve_app(settings_in(tmp_path, **embedder_settings(model.url)), routes=routes()) as address,
    ):
        answered = send_secrets(address, {"Authorization": f"Bearer {own}", **planted})
        strangers = send_secrets(address, {"Authorization": f"Bearer {SECRET}", "X-API-Key": SECRET, **planted})
        document = httpx2.get(f"{address}/openapi.json").text
        numbers = httpx2.get(f"{address}/metrics", headers={"Authorization": f"Bearer {own}"}).text
    told = text.getvalue()
    assert len([event for event in events(text) if event["event"] == "request"]) >= 2 * len(answered)
    for place in (told, document, numbers):
        assert SECRET not in place
        assert own == "none" or own not in place
    # An error does not repeat what was sent; the last two quote the path.
    for response in [*answered[:-2], *strangers[:-2]]:
        if response.status_code >= 400:
            assert SECRET not in response.text, response.text
        assert SECRET not in str(response.headers)
    if keyed:
        assert {response.status_code for response in strangers} == {401}
        assert all(SECRET not in response.text for response in strangers[:-2])


def test_lines_of_libraries_are_short_and_quote_no_error(log: Callable[[str], io.StringIO]) -> None:
    text = log("json")
    logger = logging.getLogger("some.library")
    logger.info("not told")
    logger.warning("it failed: %s", ValueError(SECRET))
    logger.warning("no jobs: %s", StoreError("the server can't be reached", where="postgresql://ann@host/papers"))
    logger.warning("a task failed\nfuture: <Task exception=ValueError(%r)>", SECRET)
    logging.getLogger("httpx2").info("HTTP Request: POST http://host/?key=%s", SECRET)
    try:
        int(SECRET)
    except ValueError:
        logger.exception("it \x1b[31mfailed again")
    event_log("service.test").warning("an event", seconds=1.5, text="several\nlines")
    told = events(text)
    assert [event["event"] for event in told][:3] == [
        "it failed: ValueError",
        "no jobs: postgresql://ann@host/papers: the server can't be reached",
        "a task failed",
    ]
    assert str(told[3]["event"]).startswith("it [31mfailed again: ValueError at test_logs.py")
    assert (told[4]["event"], told[4]["seconds"], told[4]["level"]) == ("an event", 1.5, "warning")
    assert len(told) == 5
    assert SECRET not in text.getvalue()
