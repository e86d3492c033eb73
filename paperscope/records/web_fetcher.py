"""Fetches from the public internet, within bounds. Nothing else in Paperscope follows an address that it was told."""

import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from paperscope_core.errors import PaperFileError

if TYPE_CHECKING:
    import httpx2

__all__ = ["Fetched", "WebFetcher", "public_origin"]

_REDIRECTS = 5
_STEP_SECONDS = 20.0
# arXiv asks programs to wait three seconds between requests.
_PAUSES = {"export.arxiv.org": 3.0, "arxiv.org": 3.0}
_MB = 1_000_000
# Passwords and parameters, which may be keys or mail addresses.
_PRIVATE = re.compile(r"(?<=//)[^/?#]*@|[?#].*", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """A response: its status, its type, its content, and the address that it comes from after redirects."""

    url: str
    status: int
    media_type: str
    content: bytes


def public_origin(url: str) -> str:
    """Return where to connect for an https URL: `https://93.184.215.14`, an address of the public internet.

    Raises:
        PaperFileError: It is not https on its usual port, has a password, or the host has an address of a private
            network or of this machine. All of its addresses have to be public.
    """
    shown = _shown(url)
    try:
        parts = urlsplit(url)
        host, usual = parts.hostname, parts.port in (None, 443)
    except ValueError:
        host, usual = None, False
    if not host or not usual or parts.scheme != "https" or parts.username is not None:
        raise PaperFileError(f"{shown}: Paperscope fetches from https addresses only; download it, and name the file")
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError) as error:
        raise PaperFileError(f"{shown}: the host {host!r} is not found; check the address and the network") from error
    addresses = sorted((ip_address(str(one).partition("%")[0]) for one in found), key=lambda one: (one.version, one))
    if not addresses or not all(map(_is_public, addresses)):
        raise PaperFileError(f"{shown}: the host {host!r} is in a private network, from which nothing is fetched")
    first = addresses[0]
    return f"https://[{first}]" if first.version == 6 else f"https://{first}"


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    # Outside of 2000::/3, and in two ranges of it, an address may hold one of IPv4, which gateways translate.
    if isinstance(address, IPv6Address) and (address.packed[0] >> 5 != 1 or address.sixtofour or address.teredo):
        return False
    return address.is_global and not address.is_multicast


def _shown(url: str) -> str:
    return _PRIVATE.sub("", url)


def _read(read: Callable[..., bytes], url: str, deadline: float, most: int, timeout: float | None = None) -> bytes:
    left = deadline - time.monotonic()
    if left <= 0:
        raise PaperFileError(f"{_shown(url)}: takes too long; download it, and name the file")
    return read(most, timeout=min(left, timeout or left))


class WebFetcher:
    """Fetches over https, from hosts with public addresses, without cookies, proxies and compression.

    The connection goes to the address that was checked, so that a name which changes meanwhile leads nowhere else.

    Args:
        agent: What the requests call themselves.
        locate: Returns the origin to connect to for a URL, or raises PaperFileError; None for `public_origin`.
    """

    def __init__(self, *, agent: str, locate: Callable[[str], str] | None = None) -> None:
        self._agent = agent
        self._locate = locate or public_origin
        self._last: dict[str, float] = {}

    def get(self, url: str, *, max_mb: int, seconds: float = 120.0, redirects: int = _REDIRECTS) -> Fetched:
        """Fetch a document.

        Args:
            url: Its address.
            max_mb: The most megabytes that it may have.
            seconds: The most time that it may take, with its redirects.
            redirects: The most redirects that are followed, each to an address that is checked like the first.

        Raises:
            PaperFileError: It can't be fetched within these bounds.
        """
        import httpx2

        deadline = time.monotonic() + seconds
        # A second host may have the address of the first, whose certificate was checked: no connection is used twice.
        headers = {"User-Agent": self._agent, "Accept-Encoding": "identity", "Connection": "close"}
        try:
            with httpx2.Client(timeout=_STEP_SECONDS, trust_env=False, headers=headers) as client:
                for _ in range(redirects + 1):
                    fetched, target = self._step(client, url, max_mb=max_mb, deadline=deadline)
                    if not target:
                        return fetched
                    url = urljoin(url, target)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise PaperFileError(f"{_shown(url)}: can't be fetched ({type(error).__name__}); try later") from error
        raise PaperFileError(
            f"{_shown(url)}: is redirected more than {redirects} times; download it, and name the file"
        )

    def _step(self, client: "httpx2.Client", url: str, *, max_mb: int, deadline: float) -> tuple[Fetched, str]:
        """Return a response, and the address that it redirects to."""
        import httpx2

        def limit(event: str, info: Mapping[str, Any]) -> None:
            # A server may send headers without an end, each in time.
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                stream = info["return_value"]
                stream.read = partial(_read, stream.read, url, deadline)

        host = urlsplit(url).hostname or ""
        self._wait(host)
        origin = self._locate(url)
        # With the host's name in its header, and in TLS, where the certificate is checked.
        request = client.build_request("GET", url)
        request.url = httpx2.URL(f"{origin}{request.url.raw_path.decode()}")
        request.extensions |= {"sni_hostname": host, "trace": limit}
        response = client.send(request, stream=True)
        try:
            content = bytearray()
            for part in response.iter_raw():
                content += part
                if len(content) > max_mb * _MB:
                    raise PaperFileError(f"{_shown(url)}: has more than {max_mb} MB (limits.max_file_mb)")
        finally:
            response.close()
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        fetched = Fetched(url=url, status=response.status_code, media_type=media_type, content=bytes(content))
        return fetched, response.headers.get("location", "") if response.is_redirect else ""

    def _wait(self, host: str) -> None:
        pause = self._last.get(host, float("-inf")) + _PAUSES.get(host, 0.0) - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        self._last[host] = time.monotonic()
