"""docs/security.md lists all routes of the service and of LightRAG's server, with the limits that requests show."""

import re
import shutil
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from paperscope.library import Library
from service.http.app import create_app
from service.http.limits import FairQueue, RateLimiter
from service.http.middleware import limit_other_app
from service.http.problems import ProblemError
from service.http.routes import ROUTERS
from service.keys import KeyStore
from tests.service.conftest import settings_of
from tests.service.http.test_tenants import EXAMPLE, NOBODYS, attempts

NONE = "–"
# The names of the queues in the document, by those of their attributes.
QUEUES = {"questions": "questions", "lookups": "look-ups", "images": "pictures", "estimates": "estimates"}
FORM = "multipart/form-data"
# Requests of routes that the OpenAPI document lacks.
UNDOCUMENTED: Mapping[str, Mapping[str, Any]] = {
    "/mcp": {
        "json": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "papers", "arguments": {}}},
        "headers": {"Accept": "application/json, text/event-stream"},
    }
}
_ROUTE = re.compile(r"`([A-Z]+ /[^`]*)`")
_BOUND = re.compile(r"limit of (\S+ MB)")

Columns = tuple[str, ...]


def rows_below(root: Path, heading: str) -> Iterator[Columns]:
    """The rows of the table below a heading of the document."""
    text = (root / "docs" / "security.md").read_text().partition(f"\n{heading}\n")[2]
    for line in re.split(r"\n#+ ", text)[0].splitlines():
        if line.startswith("|"):
            yield tuple(cell.strip() for cell in line.strip("|").split("|"))


class RefusingQueue(FairQueue):
    """A queue that lets nobody in, and notes its name."""

    def __init__(self, name: str, noted: set[str]) -> None:
        super().__init__(concurrency=1, max_waiting=1)
        self._name, self._noted = name, noted

    @asynccontextmanager
    async def slot(self, caller: str) -> AsyncIterator[None]:
        self._noted.add(self._name)
        raise ProblemError(429, "refused", f"{self._name} of {caller}")
        yield


class MeasuredService:
    """A service with a key, and what its queues and its limit of requests count."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        key, secret = KeyStore.open(folder / "keys.json").create("test", folder / "library")
        self._key = {"X-API-Key": secret.get_secret_value()}
        self._queues: set[str] = set()
        self._limits: set[str] = set()

        async def take(_self: RateLimiter, caller: str) -> None:
            self._limits.add("key" if caller == key.id else "address")

        monkeypatch.setattr(RateLimiter, "take", take)
        app = create_app(settings_of(folder / "library"))
        queues = {name: RefusingQueue(listed, self._queues) for name, listed in QUEUES.items()}
        app.state.service = replace(app.state.service, **queues)
        self._operations = app.openapi()["paths"]
        self._client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)

    def submit(self, body: Mapping[str, object]) -> str:
        """The id of a batch that has ended."""
        job: str = self._send("POST", "/v1/batch", json=body).json()["id"]
        self._send("POST", f"/v1/jobs/{job}/cancel")
        return job

    def columns(self, method: str, path: str, names: Mapping[str, str]) -> Columns:
        """The key, the limit, the queue and the bounds of the body of a route."""
        documented = path.replace(":path}", "}")
        operation = self._operations.get(documented, {}).get(method.lower(), {})
        document = {"paths": {documented: {method.lower(): operation}}}
        if path in UNDOCUMENTED:
            requests = [(path, dict(UNDOCUMENTED[path]))]
        else:
            requests = [(filled, given) for _, filled, given in attempts(document, names)] or [(path, {"json": {}})]
        has_key = {self._send(method, filled, keyed=False, **given).status_code == 401 for filled, given in requests}
        self._queues.clear()
        self._limits.clear()
        for filled, given in requests:
            self._send(method, filled, **given)
        limits, queues = " ".join(self._limits), " ".join(self._queues)
        media_types = (
            ("application/json",) if path in UNDOCUMENTED else operation.get("requestBody", {}).get("content", ())
        )
        bounds = ", ".join(self._bounds(method, requests[0][0], media_types))
        return ("key" if has_key == {True} else NONE), limits or NONE, queues or NONE, bounds or NONE

    def _bounds(self, method: str, path: str, media_types: Iterable[str]) -> Iterator[str]:
        """The bounds of a body as a form and as JSON, as the refusals of one that is said to be larger tell them."""
        for media_type in media_types:
            headers = {"Content-Type": f"{media_type}; boundary=a", "Content-Length": str(10**12)}
            refused = self._send(method, path, headers=headers, content=b"{}")
            found = _BOUND.search(refused.text)
            assert found, refused.text
            yield f"file {found[1]}" if media_type == FORM else found[1]

    def _send(self, method: str, path: str, *, keyed: bool = True, **given: Any) -> httpx2.Response:
        headers = {**given.pop("headers", {}), **(self._key if keyed else {})}
        answer: httpx2.Response = self._client.request(method, path, headers=headers, **given)
        return answer


@pytest.mark.slow
def test_the_routes_of_the_service_have_the_limits_that_are_listed(
    root: Path, example_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(example_library, tmp_path / "library")
    with Library.open(tmp_path / "library") as opened:
        page = opened.element(f"{EXAMPLE}/table-1").place.page
    service = MeasuredService(tmp_path, monkeypatch)
    job = service.submit({"questions": ["Which model has the highest F1?"]})
    names = {**NOBODYS, "paper": EXAMPLE, "model": f"paperscope/{EXAMPLE}", "page": str(page), "job": job}
    routes = [one for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]
    operations = [(method, one.path) for one in routes for method in one.methods or ()]
    # What is removed is needed until then.
    operations.sort(key=lambda one: one[0] == "DELETE")
    measured = {f"{method} {path}": service.columns(method, path, names) for method, path in operations}
    listed = {
        found[1]: (key, limit, queue, body)
        for route, key, limit, queue, body, _ in rows_below(root, "## Routes")
        if (found := _ROUTE.fullmatch(route))
    }
    assert listed == measured


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # LightRAG's server uses deprecated names of its packages.
def test_the_routes_of_lightrags_server_are_closed_as_listed(
    root: Path, example_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("lightrag", "bcrypt", "jwt", "aiofiles", "ascii_colors"):
        pytest.importorskip(package)
    monkeypatch.setenv("LIGHTRAG_API_KEY", "secret")
    shutil.copytree(example_library, tmp_path / "library")
    measured: dict[str, str] = {}
    with Library.open(tmp_path / "library") as opened:
        made = opened.lightrag_app(host="127.0.0.1", port=9621, inputs=tmp_path)
        client = TestClient(limit_other_app(made, keyed=True), base_url="http://127.0.0.1:9621", follow_redirects=False)
        with client:
            document = client.get("/openapi.json").json()
            routes = [(method.upper(), path) for path, found in document["paths"].items() for method in found]
            routes += [("GET", path) for path in ("/docs", "/redoc", "/openapi.json", "/webui/", "/workspace/")]
            for method, path in routes:
                answer = client.request(method, path, json={})
                refused = "can not change this library" in answer.text
                closed = answer.status_code in (401, 403)
                measured[f"{method} {path}"] = "refused" if refused else "key" if closed else NONE
            large = client.post("/query", content=b" " * 1_000_001, headers={"X-API-Key": "secret"})
            assert large.status_code == 413
    rows = rows_below(root, "### LightRAG's server")
    assert {route: key for key, routes in rows for route in _ROUTE.findall(routes)} == measured
