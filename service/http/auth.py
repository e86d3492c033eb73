"""Authentication: who calls, and which library is theirs."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, cast

from fastapi import Depends, FastAPI, Request
from fastapi.security import APIKeyHeader, HTTPBearer

from paperscope.library import Library
from paperscope_core.errors import KeyFileError
from paperscope_core.settings import Settings
from service.http.limits import FairQueue, RateLimiter
from service.http.metrics import Metrics
from service.http.problems import ProblemError
from service.http.shutdown import Shutdown
from service.jobs import Supervisor
from service.keys import KeyStore
from service.libraries import Libraries
from service.tracing import Tracing

__all__ = [
    "Caller",
    "CallerOf",
    "LibraryOf",
    "Service",
    "ServiceOf",
    "authenticate",
    "install_service",
    "is_loopback",
    "keys_unreadable",
    "service_of",
]


_KEY_REMEDY = "send `Authorization: Bearer KEY`; `paperscope keys create` makes one"
_HOST_HEADER = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?")
_BEARER = HTTPBearer(auto_error=False, description="A key that `paperscope keys create` made.")
_HEADER = APIKeyHeader(name="X-API-Key", auto_error=False)


@dataclass(frozen=True, kw_only=True)
class Service:
    """What all routes share. `library_folders` tells where the libraries of all callers are; it raises KeyFileError."""

    settings: Settings
    libraries: Libraries
    keys: KeyStore
    workers: Supervisor
    gate: FairQueue
    pictures: FairQueue
    rates: RateLimiter
    ending: Shutdown
    library_folders: Callable[[], Collection[Path]]
    metrics: Metrics
    tracing: Tracing

    @property
    def keyed(self) -> bool:
        """Whether callers must show a key, also where the first one was made while the service runs.

        Raises ProblemError (503) where their file can't be read.
        """
        try:
            return self.keys.required
        except KeyFileError as error:
            raise keys_unreadable() from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who calls: a name for the log, the folder of their library, and the folders whose papers they may add by path."""

    name: str
    library: Path
    folders: tuple[Path, ...] = ()


def install_service(app: FastAPI, service: Service) -> None:
    """Let the app's routes find the service."""
    app.state.service = service


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    return cast("Service", request.app.state.service)


ServiceOf = Annotated[Service, Depends(service_of)]


async def authenticate(request: Request, service: Service) -> Caller:
    """Who sent a request, counted against what they may send.

    Raises ProblemError: 401 without a key that works, 421 and 403 for a stranger's web page, 429 for too many.
    """
    address = request.client.host if request.client else ""
    if not service.keyed:
        _check_local(request, service)
        service.rates.take(address)
        settings = service.settings
        caller = Caller(name="local", library=settings.library, folders=settings.service.folders)
    else:
        caller = await _keyed_caller(request, service, address)
        service.rates.take(caller.name)
    request.state.caller_name = caller.name
    return caller


async def _keyed_caller(request: Request, service: Service, address: str) -> Caller:
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    secret = secret.strip() if kind.lower() == "bearer" else request.headers.get("x-api-key", "")
    try:
        key = await asyncio.to_thread(service.keys.find, secret) if secret else None
    except KeyFileError as error:
        raise keys_unreadable() from error
    if key is not None:
        return Caller(name=key.id, library=key.library, folders=key.folders)
    service.rates.take(address)
    challenge = {"WWW-Authenticate": "Bearer"}
    if not secret:
        raise ProblemError(401, "no-key", f"This service takes an API key: {_KEY_REMEDY}.", headers=challenge)
    detail = f"The API key is unknown, revoked or expired: {_KEY_REMEDY}."
    raise ProblemError(401, "unknown-key", detail, headers=challenge)


def keys_unreadable() -> ProblemError:
    """What strangers are told of a KeyFileError, whose message says where the file is."""
    detail = "The service can't read its API keys; where it runs, `paperscope keys list` says why."
    return ProblemError(503, "keys-unreadable", detail, headers={"Retry-After": "30"})


async def _caller(
    request: Request,
    _bearer: Annotated[object, Depends(_BEARER)],
    _header: Annotated[str | None, Depends(_HEADER)],
) -> Caller:
    # The door let them in; the two parameters tell the OpenAPI document how.
    return cast("Caller", request.state.caller)


CallerOf = Annotated[Caller, Depends(_caller)]


def _check_local(request: Request, service: Service) -> None:
    """Refuse what a stranger's web page lets a browser send here."""
    settings = service.settings.service
    named = request.headers.get("host", "127.0.0.1").lower()
    host = _HOST_HEADER.fullmatch(named)
    if host is None or not (is_loopback(host[1]) or host[1] in settings.hosts):
        detail = f"The service is called {named!r}, which it isn't known by; name it in service.hosts."
        raise ProblemError(421, "unknown-host", detail)
    origin = request.headers.get("origin")
    if origin is None or origin in settings.origins:
        return
    if origin.lower() != f"{request.url.scheme}://{named}":
        detail = f"A web page of {origin!r} may not call this service; name it in service.origins to let it."
        raise ProblemError(403, "foreign-origin", detail)


def is_loopback(host: str) -> bool:
    """Whether a name or address is that of this machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


async def _library(service: ServiceOf, caller: CallerOf) -> AsyncIterator[Library]:
    async with service.libraries.use(caller.library) as library:
        yield library


LibraryOf = Annotated[Library, Depends(_library)]
