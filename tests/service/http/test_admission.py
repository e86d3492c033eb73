"""Requests that are refused before they are read, by the server or the app, with a problem document."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from fastapi import APIRouter, Body

from service.http import server
from tests.service.conftest import settings_in
from tests.service.http.requests import problem_in, send_raw, status_of
from tests.service.servers import serve_app, wait_until


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    router = APIRouter()

    @router.get("/v1/name")
    async def name() -> str:
        return "a name"

    @router.post("/v1/echo")
    async def echo(body: dict[str, str] = Body()) -> int:  # noqa: B008 # FastAPI's way
        return len(body)

    with serve_app(settings_in(tmp_path_factory.mktemp("bounds")), routes=router) as address:
        yield address


@pytest.mark.parametrize("size", [20_000, 60_000, 200_000])
@pytest.mark.parametrize("way", ["header", "headers", "query"])
def test_a_head_has_at_most_32_kb(local: str, size: int, way: str) -> None:
    headers = {
        "header": f"X: {'a' * size}\r\n",
        "headers": "".join(f"X-{number}: {'a' * 100}\r\n" for number in range(size // 100)),
        "query": "",
    }[way]
    query = f"?a={'a' * size}" if way == "query" else ""
    answer = send_raw(local, f"GET /v1/name{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode())
    if size < 32_768:
        assert status_of(answer) == 200
    # The connection may be reset before the client has read the response.
    elif answer:
        assert status_of(answer) == 431
        assert problem_in(answer)["type"] == "urn:paperscope:problem:head-too-large"
        assert "32768 bytes" in problem_in(answer)["detail"]


@pytest.mark.parametrize("request_line", ["GET /v1/name", "nonsense", "GET /v1/name HTTP/1.1\r\nHost: x\r\nHost: y"])
def test_what_is_no_http_is_refused_by_a_problem_document(local: str, request_line: str) -> None:
    answer = send_raw(local, f"{request_line}\r\n\r\n".encode())
    problem = problem_in(answer)
    assert (status_of(answer), problem["status"], problem["type"]) == (400, 400, "urn:paperscope:problem:unreadable")
    assert b"application/problem+json" in answer


def test_a_body_that_breaks_the_rules_half_way_does_no_harm(local: str) -> None:
    head = "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert status_of(send_raw(local, f"{head}5\r\n{{}}\r\nno length\r\n".encode())) == 400


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_request_whose_body_breaks_the_rules_is_refused_in_its_way(
    local: str, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    head = f"{method} /v1/name HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = send_raw(local, f"{head}no length\r\n".encode())
    assert status_of(answer) == 400
    assert (b"urn:paperscope:problem:unreadable" in answer) == (method == "GET")
    assert [record.exc_info for record in caplog.records if record.exc_info] == []


def test_one_connection_too_many_is_refused_with_retry_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_EXTRA_CONNECTIONS", 1)
    monkeypatch.setattr(server, "MAX_WAITING_QUESTIONS", 1)
    settings = settings_in(tmp_path, **{"service.questions_at_once": 1})
    with serve_app(settings) as address, httpx2.Client() as first, httpx2.Client() as second:
        assert first.get(f"{address}/healthz").status_code == 200
        assert second.get(f"{address}/healthz").status_code == 200
        refused = httpx2.get(f"{address}/v1/papers")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert refused.json()["type"] == "urn:paperscope:problem:too-many-clients"
        assert httpx2.get(f"{address}/v1/models").json()["error"]["code"] == "too_many_clients"
        assert first.get(f"{address}/healthz").status_code == 200
        second.close()
        assert wait_until(lambda: httpx2.get(f"{address}/healthz").status_code == 200)
