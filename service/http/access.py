"""Who calls, and which library is theirs.

A service with API keys takes one with every request (`Authorization: Bearer …`, or `X-API-Key: …`); the key's library
is all that its caller can see. Without keys, a service on this machine serves the settings' library to callers that
name it as this machine: not to a web page of somebody else that has a browser call it (by a forged host name, or from
another origin).
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, cast
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI, Request
from fastapi.security import APIKeyHeader, HTTPBearer

from paperscope.library import Library
from paperscope.settings import Settings
from service.http.problems import ProblemError
from service.keys import Keys
from service.libraries import Libraries
from service.worker import Supervisor

__all__ = [
    "Caller",
    "CallerOf",
    "LibraryOf",
    "Service",
    "ServiceOf",
    "install_service",
    "is_loopback",
    "service_of",
]

_REMEDY = "send `Authorization: Bearer KEY`; `paperscope keys create` makes one"
_BEARER = HTTPBearer(auto_error=False, description="A key that `paperscope keys create` made.")
_HEADER = APIKeyHeader(name="X-API-Key", auto_error=False)


@dataclass(frozen=True, kw_only=True)
class Service:
    """What all routes share."""

    settings: Settings
    libraries: Libraries
    keys: Keys
    keyed: bool
    workers: Supervisor


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


async def _caller(
    request: Request,
    service: ServiceOf,
    bearer: Annotated[object, Depends(_BEARER)],
    header: Annotated[str | None, Depends(_HEADER)],
) -> Caller:
    secret = getattr(bearer, "credentials", None) or header
    if service.keyed:
        return await _keyed_caller(service, secret)
    _check_local(request, service)
    settings = service.settings
    return Caller(name="local", library=settings.library, folders=settings.service.folders)


CallerOf = Annotated[Caller, Depends(_caller)]


async def _keyed_caller(service: Service, secret: str | None) -> Caller:
    challenge = {"WWW-Authenticate": "Bearer"}
    if not secret:
        raise ProblemError(401, "no-key", f"This service takes an API key: {_REMEDY}.", headers=challenge)
    key = await asyncio.to_thread(service.keys.find, secret)
    if key is None:
        detail = f"The API key is unknown, revoked or expired: {_REMEDY}."
        raise ProblemError(401, "unknown-key", detail, headers=challenge)
    return Caller(name=key.id, library=key.library, folders=key.folders)


def _check_local(request: Request, service: Service) -> None:
    """Refuse what a stranger's web page lets a browser send here."""
    settings = service.settings.service
    host = request.url.hostname or ""
    if not is_loopback(host) and host not in settings.hosts:
        detail = f"The service is called {host!r}, which it isn't known by; name it in service.hosts."
        raise ProblemError(421, "unknown-host", detail)
    origin = request.headers.get("origin")
    if origin is None or origin in settings.origins:
        return
    page = urlsplit(origin)
    if page.netloc != request.url.netloc:
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
