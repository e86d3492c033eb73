"""The middleware: authentication, security headers, size limits, malformed requests."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from fastapi import APIRouter, Body
from fastapi.sse import format_sse_event
from fastapi.testclient import TestClient
from pydantic import SecretStr
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from service.http.auth import CallerOf
from service.http.middleware import limit_other_app
from service.http.responses import EventStreamResponse
from service.keys import KeyStore
from tests.service.conftest import settings_in
from tests.service.http.requests import events_of, send_raw, status_of
from tests.service.servers import serve_app

# Released when a request of /v1/waits or a stream of /v1/events is in progress.
STARTED = threading.Semaphore(0)


def routes() -> APIRouter:
    router = APIRouter()

    @router.post("/v1/echo")
    async def echo(caller: CallerOf, body: dict[str, str] = Body()) -> dict[str, object]:  # noqa: B008 # FastAPI's way
        return {"caller": caller.name, "size": sum(map(len, body.values()))}

    @router.get("/v1/fails")
    async def fails() -> str:
        raise RuntimeError("unexpected")

    @router.get("/v1/waits")
    async def waits() -> str:
        STARTED.release()
        await asyncio.sleep(20)
        return "late"

    @router.get("/v1/events", include_in_schema=False)
    async def events() -> EventStreamResponse:
        async def forever() -> AsyncGenerator[bytes, None]:
            yield format_sse_event(event="tick", data_str="0")
            STARTED.release()
            while True:
                yield format_sse_event(event="tick", data_str="0")
                await asyncio.sleep(0.05)

        return EventStreamResponse(forever())

    @router.get("/v1/name")
    async def name(caller: CallerOf) -> str:
        return caller.name

    return router


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = settings_in(
        tmp_path_factory.mktemp("local"),
        **{"service.origins": ["https://lab.example"], "service.hosts": ["papers.lab"]},
    )
    with serve_app(settings, routes=routes()) as address:
        yield address


@pytest.fixture
def keyed(tmp_path: Path) -> Iterator[tuple[str, SecretStr]]:
    _, secret = KeyStore.open(tmp_path / "keys.json").create("lab", tmp_path / "library-of-lab")
    with serve_app(settings_in(tmp_path, **{"service.requests_per_minute": 5}), routes=routes()) as address:
        yield address, secret


SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
}


@pytest.mark.parametrize("path", ["/healthz", "/v1/name", "/v1/nothing", "/v1/fails", "/openapi.json", "/metrics"])
def test_every_response_has_the_safe_headers(local: str, path: str) -> None:
    headers = httpx2.get(local + path).headers
    assert SAFE_HEADERS.items() <= headers.items()
    assert len(headers["x-request-id"]) == 32
    assert "server" not in headers


@pytest.mark.parametrize("origin", ["https://lab.example", "https://evil.example"])
def test_a_preflight_response_has_the_safe_headers(local: str, origin: str) -> None:
    asks = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    assert SAFE_HEADERS.items() <= httpx2.options(f"{local}/v1/name", headers=asks).headers.items()


def test_the_refusal_of_an_unreadable_request_has_the_safe_headers(local: str) -> None:
    answer = send_raw(local, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").decode().lower()
    assert all(f"\r\n{name}: {value}\r\n" in answer for name, value in SAFE_HEADERS.items()), answer


def test_a_request_id_is_returned_if_it_looks_like_one(local: str) -> None:
    for given, kept in (("0f8c-11-ABcd", True), ("short", False), ("ps_12345678", False), ("x" * 65, False)):
        found = httpx2.get(f"{local}/healthz", headers={"X-Request-ID": given}).headers["x-request-id"]
        assert (found == given) is kept
        assert found.isascii()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:1234", 200),
        ("[::1]:8000", 200),
        ("LOCALHOST", 200),
        ("papers.lab", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:8000", 421),
        ("evil.example#127.0.0.1", 421),
        ("evil.example/127.0.0.1", 421),
        ("127.0.0.1@evil.example", 421),
        ("127.0.0.1:evil", 421),
        ("[::1", 421),
        ("", 421),
    ],
)
def test_without_keys_it_answers_to_names_of_this_machine_only(local: str, host: str, status: int) -> None:
    answer = send_raw(local, f"GET /v1/name HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert status_of(answer) == status, answer
    if status == 421:
        assert b"urn:paperscope:problem:unknown-host" in answer


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("{address}", 200),
        ("https://lab.example", 200),
        ("https://evil.example", 403),
        ("https://lab.example.evil.example", 403),
        ("http://lab.example", 403),
        ("null", 403),
        ("http://127.0.0.1:1", 403),
        ("file://", 403),
        ("", 403),
    ],
)
def test_without_keys_a_page_of_another_origin_is_refused(local: str, origin: str, status: int) -> None:
    headers = {"Origin": origin.format(address=local)}
    response = httpx2.post(f"{local}/v1/echo", headers=headers, json={"a": "b"})
    assert response.status_code == status
    allowed = response.headers.get("access-control-allow-origin")
    assert allowed == ("https://lab.example" if origin == "https://lab.example" else None)
    assert "access-control-allow-credentials" not in response.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        # Another port of this machine.
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "https://lab.example"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Referer": "https://lab.example/chat"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Referer": "https://evil.example/"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "{address}"}, 403),
        ({"Referer": "https://evil.example/"}, 403),
        ({"Referer": "http://[evil"}, 403),
        ({"Referer": "{address}/v1/papers?limit=1"}, 200),
    ],
)
def test_without_keys_what_a_foreign_page_loads_or_submits_without_an_origin_is_refused(
    local: str, headers: dict[str, str], status: int
) -> None:
    sent = {name: value.format(address=local) for name, value in headers.items()}
    read = httpx2.get(f"{local}/v1/name", headers=sent)
    form = httpx2.post(f"{local}/v1/papers", headers=sent, files={"file": ("a.md", b"")})
    assert read.status_code == status
    assert (form.status_code == 403) is (status == 403), form.text
    if status == 403:
        assert read.json()["type"] == form.json()["type"] == "urn:paperscope:problem:foreign-origin"


def test_a_named_page_may_ask_before_it_calls(local: str) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    response = httpx2.options(f"{local}/v1/echo", headers={"Origin": "https://lab.example", **asks})
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://lab.example"
    assert "POST" in response.headers["access-control-allow-methods"]
    refused = httpx2.options(f"{local}/v1/echo", headers={"Origin": "https://evil.example", **asks})
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize(
    ("request_line", "head", "statuses"),
    [
        ("GET http://evil.example/v1/name HTTP/1.1", "Host: 127.0.0.1", {404}),
        ("GET /v1/name HTTP/1.1", "Host: 127.0.0.1\r\nHost: evil.example", {400}),
        ("GET /v1/name HTTP/1.1", "X: 1", {400}),
        ("GET /v1/name HTTP/1.0", "X: 1", {200}),
        ("GET /v1/../v1/name HTTP/1.1", "Host: 127.0.0.1", {404}),
        ("GET //v1/name HTTP/1.1", "Host: 127.0.0.1", {404}),
        ("GET /%76%31/name HTTP/1.1", "Host: evil.example", {421}),
        ("POST /v1/echo HTTP/1.1", "Host: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2", {400}),
        ("GET /v1/name HTTP/1.1", "Host: 127.0.0.1\r\nX: " + "a" * 200_000, {0, 431}),
        ("GET /v1/name HTTP/1.1", "Host: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade", {200}),
        ("NOISE /v1/name HTTP/1.1", "Host: 127.0.0.1", {405}),
    ],
)
def test_odd_requests_do_no_harm(local: str, request_line: str, head: str, statuses: set[int]) -> None:
    answer = send_raw(local, f"{request_line}\r\n{head}\r\n\r\n".encode())
    assert status_of(answer) in statuses, answer


@pytest.mark.parametrize("length", [True, False])
def test_a_body_over_the_limit_is_a_problem_document(local: str, length: bool) -> None:
    body = b'{"a": "' + b"x" * 1_100_000 + b'"}'
    content = body if length else iter([body[:500_000], body[500_000:]])
    headers = {"Content-Type": "application/json"}
    response = httpx2.post(f"{local}/v1/echo", content=content, headers=headers)
    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"
    assert "1 MB" in response.json()["detail"]
    assert response.headers["x-content-type-options"] == "nosniff"


def test_a_body_under_the_limit_is_taken(local: str) -> None:
    assert httpx2.post(f"{local}/v1/echo", json={"a": "x" * 900_000}).json() == {"caller": "local", "size": 900_000}


def test_a_request_without_a_key_is_refused_before_its_body_is_read(keyed: tuple[str, SecretStr]) -> None:
    address, _ = keyed
    head = "POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\nExpect: 100-continue\r\n\r\n"
    answer = send_raw(address, head.encode(), end=False)
    assert status_of(answer) == 401
    assert b"100 Continue" not in answer


def test_either_header_shows_a_key(keyed: tuple[str, SecretStr]) -> None:
    address, secret = keyed
    key = secret.get_secret_value()
    for headers in ({"Authorization": f"Bearer {key}"}, {"authorization": f"bearer  {key}"}, {"X-API-Key": key}):
        assert httpx2.get(f"{address}/v1/name", headers=headers).status_code == 200
    for path in ("/v1/name", "/metrics", "/v1/nothing"):
        assert httpx2.get(address + path).status_code in {401, 429}


def test_the_openapi_document_says_how_to_show_a_key(local: str) -> None:
    document = httpx2.get(f"{local}/openapi.json").json()
    assert set(document["components"]["securitySchemes"]) == {"HTTPBearer", "APIKeyHeader"}
    assert document["paths"]["/metrics"]["get"]["security"]


def test_a_key_over_its_rate_limit_is_refused_with_retry_after(keyed: tuple[str, SecretStr]) -> None:
    address, secret = keyed
    headers = {"X-API-Key": secret.get_secret_value()}
    statuses = [httpx2.get(f"{address}/v1/name", headers=headers).status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]
    refused = httpx2.get(f"{address}/v1/name", headers=headers)
    assert 1 <= int(refused.headers["retry-after"]) <= 12
    assert refused.json()["type"] == "urn:paperscope:problem:too-many-requests"
    # Guessing keys counts against the address.
    guesses = [httpx2.get(f"{address}/v1/name", headers={"X-API-Key": "guess"}).status_code for _ in range(6)]
    assert guesses == [401] * 5 + [429]


def test_a_revoked_key_ends_waiting_requests_and_streams_within_a_second(
    tmp_path: Path, keyed: tuple[str, SecretStr], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.http.auth._KEY_CHECK_SECONDS", 0.05)
    address, secret = keyed
    keys = KeyStore.open(tmp_path / "keys.json")
    headers = {"X-API-Key": secret.get_secret_value()}
    with ThreadPoolExecutor() as threads:
        sent = [
            threads.submit(httpx2.get, f"{address}/v1/{path}", headers=headers, timeout=30)
            for path in ("waits", "events")
        ]
        assert all(STARTED.acquire(timeout=30) for _ in sent)
        assert not any(one.done() for one in sent)
        keys.revoke(keys.all()[0].id)
        began = time.monotonic()
        waiting, stream = (one.result() for one in sent)
    assert time.monotonic() - began < 1
    assert (waiting.status_code, waiting.json()["type"]) == (401, "urn:paperscope:problem:unknown-key")
    *ticks, (kind, problem) = events_of(stream)
    assert {one for one, _ in ticks} == {"tick"}
    assert (kind, problem["type"]) == ("error", "urn:paperscope:problem:unknown-key")


def test_damaged_keys_are_reported_without_their_path(tmp_path: Path, keyed: tuple[str, SecretStr]) -> None:
    address, secret = keyed
    (tmp_path / "keys.json").write_text("{")
    for response in (
        httpx2.get(f"{address}/v1/name", headers={"X-API-Key": secret.get_secret_value()}),
        httpx2.get(f"{address}/readyz"),
    ):
        assert response.status_code == 503
        assert response.json()["type"] == "urn:paperscope:problem:keys-unreadable"
        assert str(tmp_path) not in response.text


def test_keyed_it_is_ready_where_libraries_are_or_can_be_made(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    KeyStore.open(tmp_path / "keys.json").create("lab", volume / "lab")
    with serve_app(settings_in(tmp_path)) as address:
        missing = httpx2.get(f"{address}/readyz")
        volume.mkdir()
        found = httpx2.get(f"{address}/readyz")
    assert (missing.status_code, missing.json()["type"]) == (503, "urn:paperscope:problem:no-library")
    assert str(volume) not in missing.text
    assert found.status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:9621", "Origin": "http://localhost:9621"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_another_programs_server_without_keys_is_closed_to_other_web_pages(
    headers: dict[str, str], status: int
) -> None:
    async def program(scope: Scope, receive: Receive, send: Send) -> None:
        await Response("ok")(scope, receive, send)

    client = TestClient(limit_other_app(program, keyed=False), base_url="http://127.0.0.1:9621")
    assert client.post("/query", content=b"{}", headers={"Content-Type": "text/plain", **headers}).status_code == status
