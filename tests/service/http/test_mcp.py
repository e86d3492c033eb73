"""MCP over HTTP: the SDK's own client on a real service, with the keys, tenants, queues and checks of other routes."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from graph_store import Store
from paperscope_core.types import content_hash
from service.keys import KeyStore
from tests.service.conftest import PAPER, PNG, settings_of, small_paper
from tests.service.http.requests import copy_library
from tests.service.mcp.clients import PAPER as EXAMPLE
from tests.service.mcp.clients import pictures_of, text_of
from tests.service.servers import serve_app

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def client_of(address: str, key: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def call_of(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_tools_read_the_library_and_link_to_its_page(address: str, mode: str) -> None:
    async with client_of(address, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == [
            "papers",
            "outline",
            "search",
            "section",
            "element",
            "page",
            "reference",
            "check_claim",
            "each_paper",
            "results",
            "table",
        ]
        assert f"link: {address}/#/papers/{EXAMPLE}" in await text_of(client, "papers", {})
        assert "?element=table-9\n" in await text_of(client, "element", {"label": "Table 9"})
        assert len(await pictures_of(client, "element", {"label": "Table 9"})) == 1
        assert len(await pictures_of(client, "page", {"number": 5})) == 1
        assert "LoRA" in await text_of(client, "search", {"text": "LoRA rank"})
        claim = {"text": "Macro F1 is 0.1560 for Model 1.", "evidence": [f"{EXAMPLE}/table-9"]}
        assert f"{address}/#/papers/{EXAMPLE}?at=5," in await text_of(client, "check_claim", claim)
        each = await text_of(client, "each_paper", {"text": "LoRA rank"})
        assert each.startswith(f"Four Reports, Four Rulers (id {EXAMPLE}); ")
        assert f"{address}/#/papers/{EXAMPLE}?at=" in each
        (paper,) = (await client.list_resources()).resources
        assert (await client.read_resource(paper.uri)).contents
        assert (await client.get_prompt("cite", {"question": "Which rank?"})).messages


async def test_bad_requests_are_refused(address: str) -> None:
    as_json = {**ACCEPT, "Content-Type": "application/json"}
    async with httpx2.AsyncClient(base_url=address, timeout=60) as http:
        for status, request in (
            (405, http.get("/mcp")),
            (405, http.delete("/mcp")),
            (
                400,
                http.post("/mcp", content=b"{ this is no JSON", headers=as_json),
            ),
            (406, http.post("/mcp", json=INITIALIZE, headers={"Accept": "text/html"})),
            (413, http.post("/mcp", json={**INITIALIZE, "more": "x" * 1_100_000}, headers=ACCEPT)),
            (421, http.post("/mcp", json=INITIALIZE, headers={**ACCEPT, "Host": "evil.example"})),
            (403, http.post("/mcp", json=INITIALIZE, headers={**ACCEPT, "Origin": "https://evil.example"})),
        ):
            response = await request
            assert response.status_code == status, response.text
        odd = call_of("outline", paper="\ud800\x00\u202e")
        sent = await http.post("/mcp", content=json.dumps(odd), headers=as_json)
        assert sent.status_code < 500, sent.text


@dataclass(frozen=True, kw_only=True)
class Tenants:
    address: str
    keys: KeyStore
    a: str
    b: str


@pytest.fixture(scope="module")
def tenants(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenants]:
    folder = tmp_path_factory.mktemp("tenants")
    library = copy_library(example_library, folder)
    store = Store.open(folder / "b")
    store.add(small_paper(), crops={content_hash(PNG): PNG}, source="/tagger.pdf", embedder="fake-64")
    store.close()
    keys = KeyStore.open(folder / "keys.json")
    _, a = keys.create("a", library)
    _, b = keys.create("b", folder / "b", folders=[folder])
    with serve_app(settings_of(library)) as address:
        yield Tenants(address=address, keys=keys, a=a.get_secret_value(), b=b.get_secret_value())


async def test_a_key_reads_its_library_and_sees_nothing_of_others(tenants: Tenants) -> None:
    async with client_of(tenants.address, tenants.b) as client:
        assert "add_paper" not in {tool.name for tool in (await client.list_tools()).tools}
        assert "A Tagger" in await text_of(client, "papers", {})
        assert "tagger | F1: 0.83" in await text_of(client, "element", {"label": "Table 1"})
        assert [one.uri for one in (await client.list_resources()).resources] == [f"paperscope://papers/{PAPER}"]
        with pytest.raises(MCPError, match=f"no paper '{EXAMPLE}'"):
            await client.read_resource(f"paperscope://papers/{EXAMPLE}")
        for tool, arguments in (
            ("outline", {"paper": EXAMPLE}),
            ("page", {"number": 1, "paper": EXAMPLE}),
            ("element", {"label": f"{EXAMPLE}/table-9"}),
            ("check_claim", {"text": "It is 1.", "evidence": [f"{EXAMPLE}/table-9"]}),
        ):
            text = await text_of(client, tool, arguments, is_error=True)
            assert "Four Reports" not in text


async def test_without_a_key_nothing_is_read(tenants: Tenants) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        for message in (INITIALIZE, call_of("papers")):
            response = httpx2.post(f"{tenants.address}/mcp", json=message, headers={**ACCEPT, **headers})
            assert response.status_code == 401
            assert response.headers["www-authenticate"] == "Bearer"
    key, secret = tenants.keys.create("c", tenants.keys.all()[0].library)
    async with client_of(tenants.address, secret.get_secret_value()) as client:
        assert "Four Reports" in await text_of(client, "papers", {})
        tenants.keys.revoke(key.id)
        with pytest.raises(MCPError):
            await client.call_tool("papers", {})


async def test_calls_wait_in_the_queue_and_end_with_their_time(example_library: Path) -> None:
    with serve_app(settings_of(example_library, **{"service.question_seconds": 0.001})) as address:
        async with client_of(address) as client:
            assert "There was no answer within 0.001 s" in await text_of(client, "papers", {}, is_error=True)


async def test_many_clients_at_once_are_answered(address: str) -> None:
    async def ask(number: int) -> str:
        async with client_of(address) as client:
            return await text_of(client, "page", {"number": number, "picture": number == 1})

    texts = await asyncio.gather(*(ask(1 + number % 7) for number in range(14)))
    assert all(f"?page={1 + number % 7}" in text for number, text in enumerate(texts))


def test_a_client_that_dies_leaves_the_service_working(address: str) -> None:
    body = json.dumps(call_of("page", number=5)).encode()
    host = urlsplit(address)
    assert host.hostname
    assert host.port
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {host.netloc}\r\nContent-Type: application/json\r\nAccept: {ACCEPT['Accept']}\r\n"
    )
    for sent in (body, body[:20]):
        with socket.create_connection((host.hostname, host.port)) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + sent)
            time.sleep(0.1)
    response = httpx2.post(f"{address}/mcp", json=call_of("papers"), headers=ACCEPT)
    assert response.json()["result"]["isError"] is False


def test_without_the_extra_the_route_says_what_to_install(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.http.routes.mcp_routes.find_spec", lambda _name: None)
    response = httpx2.post(f"{address}/mcp", json=INITIALIZE, headers=ACCEPT)
    assert response.status_code == 501
    assert 'pip install "paperscope[mcp]"' in response.json()["detail"]
