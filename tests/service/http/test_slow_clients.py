"""Slow clients do not hold a connection forever."""

import asyncio
import http.client
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from paperscope_core.settings import load_settings
from service.http.server import Protocol
from tests.service.servers import serve_app

pytestmark = pytest.mark.slow
HEAD = b"POST /v1/count HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 40\r\n"


def routes() -> APIRouter:
    router = APIRouter()

    @router.post("/v1/count")
    async def count(request: Request) -> int:
        return len(await request.body())

    @router.get("/v1/much")
    async def much() -> StreamingResponse:
        return StreamingResponse(iter([b"x" * 1_000_000] * 100))

    @router.get("/v1/work")
    async def work() -> str:
        await asyncio.sleep(4)
        return "done"

    return router


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("slow")
    given = {"library": str(folder / "library"), "service.keys": str(folder / "keys.json")}
    with serve_app(load_settings(environ={}, overrides=given), routes=routes()) as address:
        yield address


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("HEAD_SECONDS", 2.0), ("BODY_SECONDS", 2.0), ("WRITE_SECONDS", 2.0), ("BODY_RATE", 20.0)):
        monkeypatch.setattr(Protocol, name, seconds)


def connected(address: str) -> socket.socket:
    where = urlsplit(address)
    assert where.port is not None
    return socket.create_connection(("127.0.0.1", where.port), timeout=20)


def trickle(connection: socket.socket, data: bytes, *, every: float) -> int:
    """Send byte by byte; returns how many were sent before the connection was closed."""
    connection.settimeout(every)
    for sent in range(len(data)):
        try:
            connection.sendall(data[sent : sent + 1])
            if not connection.recv(100):
                return sent
        except TimeoutError:
            continue
        except ConnectionError:
            return sent
    return len(data)


def test_a_slow_head_is_cut_off(address: str) -> None:
    with connected(address) as connection:
        assert trickle(connection, HEAD, every=0.4) < 15


def test_an_idle_connection_is_closed(address: str) -> None:
    with connected(address) as connection:
        began = time.monotonic()
        assert connection.recv(1) == b""
        assert 1 < time.monotonic() - began < 8


def test_a_slow_body_is_cut_off(address: str) -> None:
    with connected(address) as connection:
        connection.sendall(HEAD + b"\r\n")
        assert trickle(connection, b"x" * 40, every=0.4) < 20


def test_a_body_above_the_minimum_rate_is_accepted(address: str) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(10):
            time.sleep(0.4)
            yield b"x" * 20

    response = httpx2.post(f"{address}/v1/count", content=parts(), timeout=20)
    assert response.json() == 200


def test_a_busy_connection_is_kept(address: str) -> None:
    where = urlsplit(address)
    connection = http.client.HTTPConnection("127.0.0.1", where.port, timeout=20)
    connection.connect()
    connection.auto_open = 0  # do not reconnect
    for _ in range(40):
        connection.request("POST", "/v1/count", body=b"x" * 40)
        assert connection.getresponse().read() == b"40"
        time.sleep(0.1)
    connection.close()


def test_a_client_that_does_not_read_is_disconnected(address: str) -> None:
    with connected(address) as connection:
        connection.sendall(b"GET /v1/much HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(6)
        taken = 0
        try:
            while part := connection.recv(1 << 20):
                taken += len(part)
        except ConnectionResetError:
            pass
        assert taken < 50_000_000


def test_the_services_own_time_does_not_count(address: str) -> None:
    assert httpx2.get(f"{address}/v1/work", timeout=20).json() == "done"
