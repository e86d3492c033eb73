"""Sessions of the web page: the cookie, and what it does not allow."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.cookies import SimpleCookie
from itertools import count
from pathlib import Path

import httpx2
import pytest

from graph_store.service_state import ServiceState
from service.http.sessions import SESSION_SECONDS, Sessions
from service.keys import KeyStore
from tests.service.conftest import settings_in
from tests.service.servers import serve_app

SESSION = "/v1/session"
OWN = {"Sec-Fetch-Site": "same-origin"}
PATH = "/v1/papers"


@dataclass(frozen=True)
class Keyed:
    address: str
    keys: KeyStore
    key: str

    def sign_in(self, **headers: str) -> httpx2.Response:
        return httpx2.post(self.address + SESSION, json={"key": self.key}, headers=headers)

    def cookie(self) -> dict[str, str]:
        """The header of a request in a new session."""
        return {"Cookie": self.sign_in(**OWN).headers["set-cookie"].partition(";")[0]}


@pytest.fixture
def keyed(tmp_path: Path) -> Iterator[Keyed]:
    keys = KeyStore.open(tmp_path / "keys.json")
    _, secret = keys.create("alice", tmp_path / "alice")
    with serve_app(settings_in(tmp_path, **{"service.proxies": ["127.0.0.1"]})) as address:
        yield Keyed(address, keys, secret.get_secret_value())


def test_a_browser_signs_in_and_out(keyed: Keyed) -> None:
    with httpx2.Client(base_url=keyed.address, headers=OWN) as client:
        assert client.get(SESSION).json() == {"required": True, "signed_in": False, "name": "", "library": ""}
        assert client.get(PATH).json()["type"].endswith(":no-key")
        assert client.post(SESSION, json={"key": keyed.key}).status_code == 204
        session = client.get(SESSION).json()
        assert (session["signed_in"], session["name"]) == (True, "alice")
        assert re.fullmatch("[0-9a-f]{16}", session["library"])
        assert client.get(PATH).status_code == 200
        before = {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}
        ended = client.delete(SESSION)
        assert (ended.status_code, ended.headers["clear-site-data"]) == (204, '"cache"')
        assert not client.cookies
    assert httpx2.get(keyed.address + PATH, headers=before).status_code == 401


def test_scripts_and_other_sites_do_not_get_the_cookie(keyed: Keyed) -> None:
    (cookie,) = SimpleCookie(keyed.sign_in().headers["set-cookie"]).values()
    assert cookie["httponly"] is True
    assert (cookie["samesite"], cookie["path"], cookie["secure"]) == ("strict", "/", "")
    assert cookie["max-age"] == str(SESSION_SECONDS)
    assert keyed.address.rpartition(":")[2] in cookie.key
    # As behind a proxy on this machine that ends TLS.
    forwarded = keyed.sign_in(**{"X-Forwarded-Proto": "https", "Host": "papers.example"})
    (cookie,) = SimpleCookie(forwarded.headers["set-cookie"]).values()
    assert cookie["secure"] is True


def test_the_key_is_in_no_response_and_no_log(keyed: Keyed, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    signed_in = keyed.sign_in(**OWN)
    headers = {"Cookie": signed_in.headers["set-cookie"].partition(";")[0], **OWN}
    responses = [signed_in, keyed.sign_in(Origin="http://evil.example")]
    responses += [httpx2.get(keyed.address + path, headers=headers) for path in (SESSION, PATH, "/v1/nothing")]
    responses.append(httpx2.post(keyed.address + SESSION, json={"key": keyed.key, "more": keyed.key}))
    responses.append(httpx2.post(keyed.address + SESSION, json={"key": [keyed.key]}))
    responses.append(httpx2.post(keyed.address + SESSION, json={"key": f"{keyed.key}x"}))
    for response in responses:
        assert keyed.key not in response.text + repr(response.headers)
    # The client logs what it receives.
    logged = "\n".join(str(one.msg) + one.getMessage() for one in caplog.records if not one.name.startswith("http"))
    token = headers["Cookie"].partition("=")[2]
    assert token
    assert "/v1/session" in logged
    assert keyed.key not in logged
    assert token not in logged


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Referer": "http://evil.example/page"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {},
    ],
)
def test_another_page_can_change_nothing_with_the_cookie(keyed: Keyed, headers: dict[str, str]) -> None:
    refused = httpx2.post(f"{keyed.address}/v1/query", json={"question": "F1?"}, headers=keyed.cookie() | headers)
    assert refused.status_code == 403
    assert refused.json()["type"].endswith(":foreign-origin")


@pytest.mark.parametrize("header", ["Sec-Fetch-Site", "Origin"])
def test_the_own_page_can_change_something(keyed: Keyed, header: str) -> None:
    headers = keyed.cookie() | {header: "same-origin" if header == "Sec-Fetch-Site" else keyed.address}
    removed = httpx2.delete(f"{keyed.address}/v1/papers/0123456789ab", headers=headers)
    assert removed.json()["type"].endswith(":unknown-paper")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_can_embed_nothing_with_the_cookie(keyed: Keyed, site: str) -> None:
    cookie = keyed.cookie()
    assert httpx2.get(keyed.address + PATH, headers=cookie | {"Sec-Fetch-Site": site}).status_code == 403
    assert httpx2.get(keyed.address + PATH, headers=cookie | {"Sec-Fetch-Site": "none"}).status_code == 200


def test_another_site_can_sign_nobody_in(keyed: Keyed) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert keyed.sign_in(**headers).status_code == 403


def test_a_revoked_key_ends_its_session(keyed: Keyed) -> None:
    headers = keyed.cookie() | OWN
    assert httpx2.get(keyed.address + PATH, headers=headers).status_code == 200
    (key,) = keyed.keys.all()
    keyed.keys.revoke(key.id)
    refused = httpx2.get(keyed.address + PATH, headers=headers)
    assert refused.status_code == 401
    # It might come after the next session has begun, and clear its cookie.
    assert "set-cookie" not in refused.headers
    shown = httpx2.get(keyed.address + SESSION, headers=headers)
    (cookie,) = SimpleCookie(shown.headers["set-cookie"]).values()
    assert (shown.status_code, cookie.value, cookie["max-age"]) == (200, "", "0")
    assert keyed.sign_in(**OWN).status_code == 401


def test_an_unknown_session_is_said_to_have_ended(keyed: Keyed) -> None:
    name = keyed.cookie()["Cookie"].partition("=")[0]
    refused = httpx2.get(keyed.address + PATH, headers={"Cookie": f"{name}=guessed"})
    assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (401, "session-ended")


def test_a_key_in_the_header_counts_before_the_cookie(keyed: Keyed) -> None:
    headers = {"Cookie": "paperscope_session=guessed", "X-API-Key": keyed.key, "Origin": "http://evil.example"}
    assert httpx2.get(keyed.address + PATH, headers=headers).status_code == 200


def test_guesses_count_against_the_address(tmp_path: Path) -> None:
    KeyStore.open(tmp_path / "keys.json").create("alice", tmp_path / "alice")
    with serve_app(settings_in(tmp_path, **{"service.requests_per_minute": 3})) as address:
        statuses = [httpx2.post(address + SESSION, json={"key": "guess"}).status_code for _ in range(4)]
    assert statuses == [401, 401, 401, 429]


@pytest.mark.parametrize(("proxies", "last"), [(["127.0.0.0/8"], 401), (["192.0.2.0/24"], 429), ([], 429)])
def test_only_a_named_proxy_says_whose_guess_it_is(tmp_path: Path, proxies: list[str], last: int) -> None:
    KeyStore.open(tmp_path / "keys.json").create("alice", tmp_path / "alice")
    settings = settings_in(tmp_path, **{"service.requests_per_minute": 1, "service.proxies": proxies})
    with serve_app(settings) as address:
        statuses = [
            httpx2.post(address + SESSION, json={"key": "guess"}, headers={"X-Forwarded-For": caller}).status_code
            for caller in ("198.51.100.1", "198.51.100.2")
        ]
    assert statuses == [401, last]


def test_damaged_keys_are_no_reason_to_sign_in_again(keyed: Keyed, tmp_path: Path) -> None:
    headers = keyed.cookie() | OWN
    (tmp_path / "keys.json").write_text("damaged")
    for response in (httpx2.get(keyed.address + PATH, headers=headers), keyed.sign_in(**OWN)):
        assert response.status_code == 503
        assert "set-cookie" not in response.headers


def test_without_keys_nobody_needs_to_sign_in(tmp_path: Path) -> None:
    with serve_app(settings_in(tmp_path)) as address:
        assert httpx2.get(address + SESSION).json() == {"required": False, "signed_in": True, "name": "", "library": ""}
        assert "set-cookie" not in httpx2.post(address + SESSION, json={"key": "any"}).headers
        assert httpx2.get(address + SESSION, headers={"Host": "evil.example"}).status_code == 421


async def test_sessions_end(tmp_path: Path) -> None:
    now = 0.0
    with closing(ServiceState(tmp_path, folder=tmp_path, clock=lambda: now)) as state:
        sessions = Sessions(state)
        first, second = await sessions.begin("alice"), await sessions.begin("alice")
        assert first != second
        await sessions.end(first)
        await sessions.end("unknown")
        assert (await sessions.key_id(first), await sessions.key_id(second)) == (None, "alice")
        assert second.encode() not in (tmp_path / "state.sqlite").read_bytes()
        now = SESSION_SECONDS
        assert await sessions.key_id(second) is None


async def test_the_oldest_sessions_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph_store.service_state._MAX_SESSIONS", 2)
    times = count()
    with closing(ServiceState(tmp_path, folder=tmp_path, clock=lambda: next(times))) as state:
        sessions = Sessions(state)
        tokens = [await sessions.begin("alice") for _ in range(3)]
        assert [await sessions.key_id(token) for token in tokens] == [None, "alice", "alice"]
