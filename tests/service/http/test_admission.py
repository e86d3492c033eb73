"""Requests that are refused before they are read, by the server or the app, with a problem document."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from fastapi import APIRouter, Body

from service.http import limits, server
from service.http.responses import EventStreamResponse
from service.keys import KeyStore
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


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A service that takes two connections and refuses the third."""
    monkeypatch.setattr(server, "EXTRA_CONNECTIONS", 1)
    monkeypatch.setattr(server, "MAX_WAITING_QUESTIONS", 1)
    router = APIRouter()

    @router.get("/v1/ticks", include_in_schema=False)
    async def ticks() -> EventStreamResponse:
        async def forever() -> AsyncGenerator[bytes, None]:
            while True:
                yield b": tick\n\n"
                await asyncio.sleep(0.05)

        return EventStreamResponse(forever())

    with serve_app(settings_in(tmp_path, **{"service.questions_at_once": 1}), routes=router) as address:
        yield address


def test_one_connection_too_many_is_refused_with_retry_after(small: str) -> None:
    address = small
    with httpx2.stream("GET", f"{address}/v1/ticks") as first, ExitStack() as stack:
        second = stack.enter_context(httpx2.stream("GET", f"{address}/v1/ticks"))
        assert (first.status_code, second.status_code) == (200, 200)
        refused = httpx2.get(f"{address}/v1/papers")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert refused.json()["type"] == "urn:paperscope:problem:too-many-clients"
        assert httpx2.get(f"{address}/v1/models").json()["error"]["code"] == "too_many_clients"
        assert httpx2.get(f"{address}/healthz").status_code == 200
        stack.close()
        assert wait_until(lambda: httpx2.get(f"{address}/v1/papers").status_code == 200)


def test_connections_that_send_nothing_give_way(small: str) -> None:
    where = urlsplit(small)
    with ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection((where.hostname or "", where.port or 0), timeout=10))
            for _ in range(20)
        ]
        silent[-1].sendall(b"GET /v1/papers HT")
        assert [httpx2.get(f"{small}/v1/papers").status_code for _ in range(5)] == [200] * 5
        # The oldest was closed.
        assert silent[0].recv(1) == b""


def test_a_key_has_a_limit_of_requests_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_AT_ONCE", 2)
    router = APIRouter()
    released = asyncio.Event()

    @router.get("/v1/waits")
    async def waits() -> str:
        await released.wait()
        return "done"

    @router.get("/v1/release")
    async def release() -> str:
        released.set()
        return "done"

    keys = KeyStore.open(tmp_path / "keys.json")
    (_, one), (_, other) = (keys.create(name, tmp_path / name) for name in ("alice", "bob"))
    headers = [{"X-API-Key": key.get_secret_value()} for key in (one, other)]
    with serve_app(settings_in(tmp_path), routes=router) as address, ThreadPoolExecutor() as threads:
        running = [threads.submit(httpx2.get, f"{address}/v1/waits", headers=headers[0], timeout=60) for _ in range(3)]
        (refused,), _ = wait(running, return_when=FIRST_COMPLETED)
        assert refused.result().status_code == 429
        assert refused.result().json()["type"] == "urn:paperscope:problem:too-many-requests-at-once"
        assert httpx2.get(f"{address}/v1/release", headers=headers[1]).status_code == 200
        assert sorted(done.result().status_code for done in running) == [200, 200, 429]
        assert httpx2.get(f"{address}/v1/papers", headers=headers[0]).status_code == 200
