import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import httpx2
import pytest
from fastapi import APIRouter

from graph_store import Store
from paperscope_core.errors import SettingsError, StoreReadOnlyError
from service.http import serve
from service.http.server import build_server
from service.http.serving import address_of, listen
from service.keys import KeyStore
from tests.service.conftest import settings_in
from tests.service.servers import serve_app, wait_until


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with serve_app(settings_in(tmp_path)) as address:
        yield address


def test_health_and_readiness(address: str) -> None:
    for path in ("/healthz", "/readyz"):
        response = httpx2.get(address + path)
        assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_an_unknown_path_is_a_problem_document(address: str) -> None:
    response = httpx2.get(f"{address}/v1/nothing")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["type"] == "urn:paperscope:problem:not-found"
    assert problem["instance"] == "/v1/nothing"
    assert problem["status"] == 404


def test_the_openapi_document_describes_each_operation(address: str) -> None:
    document = httpx2.get(f"{address}/openapi.json").json()
    assert document["info"]["title"] == "Paperscope"
    assert all(operation["summary"] for methods in document["paths"].values() for operation in methods.values())
    assert "/" not in document["paths"]


def test_the_address_of_the_web_page_is_told_when_it_can_be_opened(tmp_path: Path) -> None:
    told: list[str] = []
    settings = settings_in(tmp_path, **{"service.port": 0})
    with listen(settings) as listening:
        server = build_server(settings, on_started=lambda _shutdown: told.append(address_of(listening)))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        (address,) = wait_until(lambda: told)
        assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d+/", address)
        assert "<title>Paperscope</title>" in httpx2.get(address).text
        server.should_exit = True
        thread.join(60)


def test_a_port_that_is_taken_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.http.serving._BIND_SECONDS", 0.0)
    with listen(settings_in(tmp_path, **{"service.port": 0})) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            SettingsError, match=rf"can't listen on 127\.0\.0\.1:{port} .* choose another service\.port"
        ):
            listen(settings_in(tmp_path, **{"service.port": port}))


def test_beyond_this_machine_it_refuses_to_start_without_keys(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"0\.0\.0\.0.*paperscope keys create"):
        serve(settings_in(tmp_path, **{"service.host": "0.0.0.0"}))  # noqa: S104 # refused


def test_a_library_that_can_only_be_read_is_ready(tmp_path: Path) -> None:
    Store.open(tmp_path / "library").close()
    with serve_app(settings_in(tmp_path)) as address, pytest.MonkeyPatch.context() as patch:
        patch.setattr("graph_store.store.open_writable", _refuse)
        response = httpx2.get(f"{address}/readyz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def _refuse(folder: Path) -> NoReturn:
    raise StoreReadOnlyError("the library is not writable", where=folder)


def test_a_library_that_cannot_be_opened_is_not_ready(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "library").write_text("a file")
    with serve_app(settings_in(tmp_path)) as address:
        assert httpx2.get(f"{address}/healthz").status_code == 200
        response = httpx2.get(f"{address}/readyz")
    assert response.status_code == 503
    assert str(tmp_path / "library") not in response.text
    assert str(tmp_path / "library") in caplog.text


def test_the_first_key_makes_a_running_service_require_keys(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    with serve_app(settings) as address:
        assert httpx2.get(f"{address}/v1/papers").status_code == 200
        _, secret = KeyStore.open(settings.service.keys).create("alice", tmp_path / "alice")
        assert httpx2.get(f"{address}/v1/papers").status_code == 401
        given = {"Authorization": f"Bearer {secret.get_secret_value()}"}
        assert httpx2.get(f"{address}/v1/papers", headers=given).status_code == 200
        settings.service.keys.write_text("damaged")
        refused = httpx2.get(f"{address}/v1/papers", headers=given)
        assert refused.status_code == httpx2.get(f"{address}/readyz").status_code == 503
        assert str(tmp_path) not in refused.text


@pytest.mark.parametrize("path", ["/v1/papers/", "/v1/papers/abcdef012345/elements/..%2f", "/healthz/"])
def test_a_path_that_is_none_leads_nowhere_else(address: str, path: str) -> None:
    assert httpx2.get(address + path).status_code in (404, 422)


def test_a_client_that_still_sends_its_body_receives_the_error(tmp_path: Path) -> None:
    router = APIRouter()

    @router.post("/fail")
    async def fail() -> None:
        raise RuntimeError

    with serve_app(settings_in(tmp_path), routes=router) as address:
        where = urlsplit(address)
        with socket.create_connection((where.hostname or "", where.port or 0), timeout=10) as connection:
            connection.sendall(b"POST /fail HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500000\r\n\r\n")
            answer = connection.recv(65536)
            connection.sendall(b"a" * 500_000)
            # A reset would raise.
            while part := connection.recv(65536):
                answer += part
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"connection: close" in answer.lower()
    assert b"internal-error" in answer
