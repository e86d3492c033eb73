"""Authentication: identifies the caller and the library that they may use.

With API keys, every request must send one (`Authorization: Bearer …` or `X-API-Key: …`), or the cookie of a session
that began with one (see `sessions`); its library is all that the caller can see. A request with the cookie counts only
if a page of the service itself sent it. Without keys, the service answers callers of this machine only, and refuses web
pages of other sites that a browser calls it from (by DNS rebinding, or from another origin).
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPBearer

from graph_store.service_state import ServiceState
from paperscope.library import Library
from paperscope_core.errors import KeyFileError
from paperscope_core.locations import Location
from paperscope_core.settings import Settings
from service.http.background import Background
from service.http.limits import FairQueue, RateLimiter
from service.http.metrics import Metrics
from service.http.problems import ProblemError
from service.http.sessions import Sessions, session_token
from service.http.shutdown import Shutdown
from service.jobs import JobRunner
from service.keys import Key, KeyStore
from service.libraries import Libraries

__all__ = [
    "Caller",
    "CallerOf",
    "ComputingLibraryOf",
    "LibraryOf",
    "Service",
    "ServiceOf",
    "admit",
    "authenticate",
    "check_local",
    "is_loopback",
    "keys_unreadable",
    "unknown_key",
    "while_key_works",
]

_KEY_REMEDY = "send `Authorization: Bearer KEY`; `paperscope keys create` makes one"
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
_REFERER_ORIGIN = re.compile(r"[A-Za-z][\w+.-]*://[^/?#@]+(?=[/?#]|$)")
_HOST_HEADER = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?")
_KEY_CHECK_SECONDS = 0.5
_SAFE_METHODS = ("GET", "HEAD")
# Of Sec-Fetch-Site; "none" is an address that the user entered. Other ports of this machine are "same-site".
_OWN_SITES = ("none", "same-origin")
_BEARER = HTTPBearer(auto_error=False, description="A key that `paperscope keys create` made.")
_API_KEY = APIKeyHeader(name="X-API-Key", auto_error=False)


@dataclass(frozen=True, kw_only=True)
class Service:
    """The state that all routes share.

    Attributes:
        state: What the processes of the service share.
        background: The questions that are being answered.
        images: The queue of pages to draw.
        estimates: The queue of papers to estimate.
        lookups: The queue of requests that compute what they return from the library.
        library_folders: Returns the places of all callers' libraries; raises KeyFileError.
    """

    settings: Settings
    libraries: Libraries
    keys: KeyStore
    state: ServiceState
    sessions: Sessions
    jobs: JobRunner
    questions: FairQueue
    background: Background
    images: FairQueue
    estimates: FairQueue
    lookups: FairQueue
    rate_limiter: RateLimiter
    shutdown: Shutdown
    library_folders: Callable[[], Collection[Location]]
    metrics: Metrics

    @property
    def requires_key(self) -> bool:
        """Whether callers must send a key; true as soon as the first one exists. Raises ProblemError (503)."""
        try:
            return self.keys.required
        except KeyFileError as error:
            raise keys_unreadable() from error

    async def key_of_session(self, token: str) -> Key | None:
        """Return the key of a session, if both still work. Raises ProblemError (503)."""
        key_id = await self.sessions.key_id(token)
        try:
            return await asyncio.to_thread(self.keys.get, key_id) if key_id else None
        except KeyFileError as error:
            raise keys_unreadable() from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who calls: a name for the log, the place of their library, and the folders of papers they may add by path.

    With a key, the name is the key's id.
    """

    name: str
    library: Location
    folders: tuple[Path, ...] = ()
    keyed: bool = False

    def conversation(self, conversation: str) -> str:
        """Return what the work on a conversation of the library is about; see `Background`."""
        return f"{self.library}/{conversation}"


def _service(request: Request) -> Service:
    return cast("Service", request.app.state.service)


ServiceOf = Annotated[Service, Depends(_service)]


async def authenticate(request: Request, service: Service) -> Caller:
    """Return the caller of a request, which counts against their rate limit.

    Raises:
        ProblemError: 401 without a valid key, 421 or 403 for another site's web page, 429 for too many requests.
    """
    address = request.client.host if request.client else ""
    if not service.requires_key:
        settings = service.settings
        check_local(request, hosts=settings.service.hosts, origins=settings.service.origins)
        await service.rate_limiter.take(address)
        caller = Caller(name="local", library=settings.library, folders=settings.service.folders)
    else:
        caller = await _keyed_caller(request, service, address)
        await service.rate_limiter.take(caller.name)
    request.state.caller_name = caller.name
    return caller


async def admit(request: Request, service: Service) -> None:
    """Let a request sign in, which counts against the rate limit of its address.

    Raises:
        ProblemError: 421 or 403 for another site's web page, 429 for too many requests.
    """
    if service.requires_key:
        _check_origin(request)
    else:
        settings = service.settings.service
        check_local(request, hosts=settings.hosts, origins=settings.origins)
    await service.rate_limiter.take(request.client.host if request.client else "")


async def _keyed_caller(request: Request, service: Service, address: str) -> Caller:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    secret = secret.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")
    token = "" if secret else session_token(request)
    try:
        key = await asyncio.to_thread(service.keys.find, secret) if secret else None
    except KeyFileError as error:
        raise keys_unreadable() from error
    if token:
        _check_own_page(request)
        key = await service.key_of_session(token)
    if key is not None:
        return Caller(name=key.id, library=key.library, folders=key.folders, keyed=True)
    # Failed attempts count against the address.
    await service.rate_limiter.take(address)
    if token:
        # The cookie stays: a response that comes late would clear that of the next session.
        raise ProblemError(401, "session-ended", "The session has ended; sign in again.", headers=_CHALLENGE)
    if not secret:
        detail = f"This service takes an API key: {_KEY_REMEDY}."
        raise ProblemError(401, "no-key", detail, headers=_CHALLENGE)
    raise unknown_key()


def unknown_key() -> ProblemError:
    """Return the reply to a request whose key doesn't work, or no longer works."""
    detail = f"The API key is unknown, revoked or expired: {_KEY_REMEDY}."
    return ProblemError(401, "unknown-key", detail, headers=_CHALLENGE)


@asynccontextmanager
async def while_key_works(service: Service, caller: Caller, running: asyncio.Timeout) -> AsyncIterator[None]:
    """Run the block within `running`, which expires (TimeoutError) when the caller's key is revoked or expires."""

    async def watch() -> None:
        works = True
        while works:
            await asyncio.sleep(_KEY_CHECK_SECONDS)
            # While the key file can't be read, new requests are refused, and this one goes on.
            with suppress(KeyFileError):
                works = service.keys.get(caller.name) is not None
        running.reschedule(asyncio.get_running_loop().time())

    async with running:
        watching = asyncio.create_task(watch()) if caller.keyed else None
        try:
            yield
        finally:
            if watching is not None:
                watching.cancel()


def keys_unreadable() -> ProblemError:
    """Return the reply if the key file can't be read; callers may not learn where it is."""
    detail = "The service can't read its API keys; on its machine, `paperscope keys list` says why."
    return ProblemError(503, "keys-unreadable", detail, headers={"Retry-After": "30"})


def check_local(request: Request, *, hosts: Collection[str] = (), origins: Collection[str] = ()) -> None:
    """Check that no web page of another site sends a request to a service without keys.

    Args:
        hosts: Names besides this machine's own by which the service may be called.
        origins: Other origins whose pages may call the service.

    Raises:
        ProblemError: 421 for another name, as after DNS rebinding; 403 for a page of another origin.
    """
    named = request.headers.get("host", "127.0.0.1").lower()
    host = _HOST_HEADER.fullmatch(named)
    if host is None or not (is_loopback(host[1]) or host[1] in hosts):
        detail = f"The service is not known as {named!r}; add this name to service.hosts to allow it."
        raise ProblemError(421, "unknown-host", detail)
    _check_origin(request, allowed=origins)


def _check_origin(request: Request, *, allowed: Collection[str] = ()) -> None:
    """Raise ProblemError (403) if a browser says that a page of another origin makes it send the request."""
    headers = request.headers
    origin = headers.get("origin", _origin_of(headers.get("referer", "")))
    if origin in allowed:
        return
    # A browser sends no Origin with what a page loads (images, links), but says where the page is from.
    foreign = headers.get("sec-fetch-site", "none") not in _OWN_SITES
    if foreign or (origin is not None and origin.lower() != _own_origin(request)):
        page = "another site" if origin is None else repr(origin)
        detail = (
            f"A web page of {page} may not call this service; add its origin to service.origins to allow it, "
            "or name the reverse proxy of the service in service.proxies."
        )
        raise ProblemError(403, "foreign-origin", detail)


def _check_own_page(request: Request) -> None:
    """Raise ProblemError (403) unless a request with a cookie is from a page of this service.

    To change something, the browser must say so; otherwise it is enough that it says nothing else.
    """
    _check_origin(request)
    headers = request.headers
    is_own = headers.get("sec-fetch-site") == "same-origin" or headers.get("origin", "").lower() == _own_origin(request)
    if request.method not in _SAFE_METHODS and not is_own:
        detail = "With a session's cookie, only the service's own page may change something; programs send an API key."
        raise ProblemError(403, "foreign-origin", detail)


def _own_origin(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers.get('host', '').lower()}"


def _origin_of(referer: str) -> str | None:
    """Return the origin of the page that a Referer names; None if it names none, as a browser's Referer does."""
    found = _REFERER_ORIGIN.match(referer)
    return found[0] if found else None


def is_loopback(host: str) -> bool:
    """Return whether a name or address is a loopback address of this machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


async def _caller(
    request: Request,
    _bearer: Annotated[object, Depends(_BEARER)],
    _header: Annotated[str | None, Depends(_API_KEY)],
) -> Caller:
    # AuthMiddleware has set it; the two parameters are for the OpenAPI document.
    return cast("Caller", request.state.caller)


CallerOf = Annotated[Caller, Depends(_caller)]


async def _library(service: ServiceOf, caller: CallerOf) -> AsyncIterator[Library]:
    async with service.libraries.use(caller.library) as library:
        yield library


LibraryOf = Annotated[Library, Depends(_library)]


async def _computing_library(service: ServiceOf, caller: CallerOf, library: LibraryOf) -> AsyncIterator[Library]:
    async with service.lookups.slot(caller.name):
        yield library


# Who reads the response slowly holds no slot meanwhile.
ComputingLibraryOf = Annotated[Library, Depends(_computing_library, scope="function")]
"""The caller's library, in a route whose requests take turns with those of other callers."""
