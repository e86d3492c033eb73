"""The service below a path of a reverse proxy, which strips it or not; and proxies that are not trusted."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from paperscope_core.errors import SettingsError
from service.keys import KeyStore
from tests.service.conftest import settings_in
from tests.service.servers import serve_app


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = settings_in(
        tmp_path_factory.mktemp("service"), **{"service.proxies": ["127.0.0.1"], "service.root_path": "/papers"}
    )
    with serve_app(settings) as address:
        yield address


@pytest.mark.parametrize("path", ["", "/papers"])
def test_requests_are_served_with_and_without_the_path(address: str, path: str) -> None:
    assert httpx2.get(f"{address}{path}/").headers["content-type"].startswith("text/html")
    assert httpx2.get(f"{address}{path}/web/app.js").status_code == 200
    assert httpx2.get(f"{address}{path}/v1/papers").json()["papers"] == []


def test_addresses_in_responses_have_the_path(address: str) -> None:
    for headers, prefix in (({}, "/papers"), ({"X-Forwarded-Prefix": "/a/b/"}, "/a/b")):
        made = httpx2.post(f"{address}/v1/conversations", json={"title": "t"}, headers=headers)
        assert made.headers["location"] == f"{prefix}/v1/conversations/{made.json()['id']}"
    moved = httpx2.get(f"{address}/papers", follow_redirects=False)
    assert (moved.status_code, moved.headers["location"]) == (308, "/papers/")


@pytest.mark.parametrize("prefix", ["//evil.example", "/a/../b", "evil", "/a b", "/<script>", "/a?b", "/%2e", "/."])
def test_a_prefix_that_is_no_path_is_ignored(address: str, prefix: str) -> None:
    made = httpx2.post(f"{address}/v1/conversations", json={"title": "t"}, headers={"X-Forwarded-Prefix": prefix})
    assert made.headers["location"].startswith("/papers/v1/conversations/")


def test_the_headers_of_a_proxy_that_is_not_named_are_ignored(tmp_path: Path) -> None:
    with serve_app(settings_in(tmp_path)) as address:
        headers = {"X-Forwarded-Prefix": "/papers"}
        made = httpx2.post(f"{address}/v1/conversations", json={"title": "t"}, headers=headers)
        assert made.headers["location"].startswith("/v1/conversations/")
        assert httpx2.get(f"{address}/papers/v1/papers", headers=headers).status_code == 404


@pytest.mark.parametrize("path", ["/v1/papers", "/x/v1/papers", "/x/x/v1/papers", "/x//v1/papers", "/x/x/x/v1/papers"])
def test_no_prefix_goes_round_the_keys(tmp_path: Path, path: str) -> None:
    """A path may not be authenticated as one and routed as another."""
    settings = settings_in(tmp_path, **{"service.proxies": ["127.0.0.1"]})
    KeyStore.open(settings.service.keys).create("alice", tmp_path / "library")
    with serve_app(settings) as address:
        for prefix in ("/x", "/x/x", "/v1", ""):
            refused = httpx2.get(address + path, headers={"X-Forwarded-Prefix": prefix})
            assert refused.status_code in (401, 404)


def test_the_cookie_of_a_session_is_that_of_the_path(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, **{"service.root_path": "/papers/"})
    _, secret = KeyStore.open(settings.service.keys).create("alice", tmp_path / "library")
    with serve_app(settings) as address:
        signed_in = httpx2.post(
            f"{address}/papers/v1/session", json={"key": secret.get_secret_value()}, headers={"Origin": address}
        )
        assert "Path=/papers/;" in signed_in.headers["set-cookie"]


@pytest.mark.parametrize("path", ["papers", "//papers", "/a/../b", "https://evil.example", "/a?b"])
def test_a_wrong_path_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(SettingsError, match="root_path"):
        settings_in(tmp_path, **{"service.root_path": path})
