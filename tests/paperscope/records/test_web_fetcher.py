"""Only the public internet is fetched from, within bounds."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread
from typing import Any

import pytest

from paperscope.records.web_fetcher import WebFetcher, public_origin
from paperscope_core.errors import PaperFileError
from tests.paperscope.records.web import Web, serve_web


@pytest.fixture
def web() -> Iterator[Web]:
    with serve_web() as found:
        yield found


def resolve(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    def found(_host: str, port: int, **_options: Any) -> list[Any]:
        kinds = [socket.AF_INET6 if ":" in one else socket.AF_INET for one in addresses]
        return [(kind, socket.SOCK_STREAM, 6, "", (one, port)) for kind, one in zip(kinds, addresses, strict=True)]

    monkeypatch.setattr(socket, "getaddrinfo", found)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.1.2.3",
        "224.0.0.1",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
        "::127.0.0.1",
        "fec0::1",
    ],
)
def test_no_host_with_a_private_address_is_reached(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    resolve(monkeypatch, "93.184.215.14", address)
    with pytest.raises(PaperFileError, match="private network"):
        public_origin("https://papers.example/a.pdf")


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve(monkeypatch, "93.184.215.14")
    assert public_origin("https://papers.example/a.pdf") == "https://93.184.215.14"
    resolve(monkeypatch, "2606:2800:21f:cb07:6820:80da:af6b:8b2c")
    assert public_origin("https://papers.example:443/a") == "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]"


@pytest.mark.parametrize(
    "url",
    [
        "http://papers.example/a",
        "https://papers.example:8443/a",
        "https://user@papers.example/a",
        "https://papers.example:port/",
        "file:///etc/hostname",
        "https://",
        "https://[::1",
    ],
)
def test_only_https_on_its_usual_port_is_fetched(url: str) -> None:
    with pytest.raises(PaperFileError, match="https addresses only"):
        public_origin(url)


@pytest.mark.parametrize("host", ["localhost", "127.1", "0x7f000001", "2130706433", "[::1]"])
def test_names_of_this_machine_are_refused(host: str) -> None:
    with pytest.raises(PaperFileError, match=r"private network|not found"):
        public_origin(f"https://{host}/")


def test_each_redirect_is_checked(web: Web) -> None:
    web.documents |= {"a.example/": ("to", "https://b.example/x"), "b.example/x": ("to", "/y"), "b.example/y": "found"}
    checked: list[str] = []

    def locate(url: str) -> str:
        checked.append(url)
        return web.origin

    assert WebFetcher(agent="test", locate=locate).get("https://a.example/", max_mb=1).content == b"found"
    assert checked == ["https://a.example/", "https://b.example/x", "https://b.example/y"]
    web.documents["b.example/x"] = ("to", "http://169.254.169.254/latest")
    with pytest.raises(PaperFileError, match="https addresses only"):
        WebFetcher(agent="test", locate=lambda url: web.origin if "example" in url else public_origin(url)).get(
            "https://a.example/", max_mb=1
        )


def test_size_redirects_and_time_are_bounded(web: Web) -> None:
    web.documents |= {"a.example/large": b"x" * 1_000_001, "a.example/loop": ("to", "/loop"), "a.example/": "slow"}
    fetcher = WebFetcher(agent="test", locate=lambda _url: web.origin)
    with pytest.raises(PaperFileError, match="more than 1 MB"):
        fetcher.get("https://a.example/large", max_mb=1)
    with pytest.raises(PaperFileError, match="redirected more than 5 times"):
        fetcher.get("https://a.example/loop", max_mb=1)
    with pytest.raises(PaperFileError, match="too long"):
        fetcher.get("https://a.example/", max_mb=1, seconds=-1)
    with pytest.raises(PaperFileError, match="can't be fetched"):
        WebFetcher(agent="test", locate=lambda _url: "http://127.0.0.1:9").get("https://a.example/", max_mb=1)


def test_headers_without_an_end_are_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                while True:
                    connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")

        Thread(target=answer, daemon=True).start()
        fetcher = WebFetcher(agent="test", locate=lambda _url: f"http://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(PaperFileError, match="too long"):
            fetcher.get("https://a.example/", max_mb=1, seconds=0.3)


@pytest.mark.parametrize("url", ["https://a.example/x?mailto=me@b.example", "https://me:pass@a.example/x#part"])
def test_messages_have_neither_passwords_nor_parameters(url: str) -> None:
    with pytest.raises(PaperFileError, match=r"^https://a\.example/x: "):
        WebFetcher(agent="test", locate=None if "pass" in url else lambda _url: "http://127.0.0.1:9").get(url, max_mb=1)
