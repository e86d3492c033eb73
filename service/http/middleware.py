"""The middleware, outermost last."""

import asyncio
from contextlib import suppress
from typing import cast

from fastapi import FastAPI, Request
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.auth import Service, authenticate
from service.http.problems import ProblemError, error_response
from service.http.shutdown import shutdown_problem

__all__ = [
    "HEAD_TOO_LARGE",
    "MAX_BODY_BYTES",
    "MAX_HEAD_BYTES",
    "AdmissionMiddleware",
    "AuthMiddleware",
    "BodySizeMiddleware",
    "DrainingMiddleware",
    "MethodsMiddleware",
    "SecurityHeadersMiddleware",
]


_GUARDED = ("/v1/", "/metrics")


class AuthMiddleware:
    """Middleware that lets callers in to `/v1/…` and `/metrics`; health and the OpenAPI document are open to all."""

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] != "http" or not scope["path"].startswith(_GUARDED):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            if self._service.ending.begun.is_set():
                raise shutdown_problem()
            request.state.caller = await authenticate(request, self._service)
        except ProblemError as error:
            await error_response(request, error)(scope, receive, send)
            return
        await self._app(scope, receive, send)


_METHOD_NOT_ALLOWED = 405


class MethodsMiddleware:
    """Lets an app answer HEAD as it answers GET, without a body, and name all methods of a path in `Allow`, not only
    those of the first route that fits."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"
        inner = {**scope, "method": "GET"} if head else scope
        ended = False

        async def send_on(message: Message) -> None:
            nonlocal ended
            if (
                message["type"] == "http.response.start"
                and message["status"] == _METHOD_NOT_ALLOWED
                and "route" in inner
            ):
                MutableHeaders(scope=message)["Allow"] = ", ".join(_methods_of(inner))
            if head and message["type"] == "http.response.body":
                if ended:
                    return
                ended, message = True, {"type": "http.response.body", "body": b""}
            await send(message)

        try:
            await self._app(inner, receive, send_on)
        finally:
            if "route" in inner:
                scope["route"] = inner["route"]


def _methods_of(scope: Scope) -> list[str]:
    """The methods of the path that a request was for, as the OpenAPI document lists them, or else its route."""
    route = scope["route"]
    listed = cast("FastAPI", scope["app"]).openapi()["paths"].get(route.path, {})
    methods = {*map(str.upper, listed), *(route.methods or ())}
    return sorted(methods | {"HEAD"} if "GET" in methods else methods)


MAX_BODY_BYTES = 1_000_000
_TOO_LARGE = "too-large"


class BodySizeMiddleware:
    """Middleware that makes of FastAPI's "Content Too Large" an error that tells the limit."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        replaced, state = False, scope["state"]

        async def told(message: Message) -> None:
            nonlocal replaced
            start = message["type"] == "http.response.start"
            if start and message["status"] == 413 and state.get("problem") != _TOO_LARGE:
                replaced = True
                detail = f"The body is over the limit of {MAX_BODY_BYTES / 1e6:g} MB."
                # The rest of it isn't read.
                close = {"Connection": "close"}
                response = error_response(Request(scope), ProblemError(413, _TOO_LARGE, detail, headers=close))
                await response(scope, receive, send)
            elif not replaced:
                await send(message)

        await self._app(scope, receive, told)


MAX_HEAD_BYTES = 32_768
"""How large a request's line and headers may be together."""

HEAD_TOO_LARGE = "head-too-large", f"The request's line and headers are over the limit of {MAX_HEAD_BYTES} bytes."
"""The kind of the problem where they are larger, and what is said of it."""

_RETRY_SECONDS = 5
# What stands round a header: a colon, a space, an end of line.
_HEADER_OVERHEAD_BYTES = 4


class AdmissionMiddleware:
    """Middleware that refuses such requests. The server tells by its scope's state whether it is `crowded`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        refusal = _refusal(scope) if scope["type"] == "http" else None
        app = self._app if refusal is None else error_response(Request(scope), refusal)
        await app(scope, receive, send)


def _refusal(scope: Scope) -> ProblemError | None:
    if scope["state"].get("crowded"):
        detail = "As many clients are connected as this service takes; come back after the seconds of Retry-After."
        headers = {"Retry-After": str(_RETRY_SECONDS), "Connection": "close"}
        return ProblemError(503, "too-many-clients", detail, headers=headers)
    # The server bounds only what it has to wait for: a head that comes in one piece passes, however large.
    if _head_bytes(scope) > MAX_HEAD_BYTES:
        kind, detail = HEAD_TOO_LARGE
        return ProblemError(431, kind, detail, headers={"Connection": "close"})
    return None


def _head_bytes(scope: Scope) -> int:
    line = len(scope["raw_path"]) + len(scope["query_string"])
    return line + sum(len(name) + len(value) + _HEADER_OVERHEAD_BYTES for name, value in scope["headers"])


_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


class SecurityHeadersMiddleware:
    """Middleware that adds the headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)


_MAX_DRAINED_BYTES = 4_000_000
_MAX_DRAINING_SECONDS = 2.0


class DrainingMiddleware:
    """Middleware that takes what is left of a request's body before it lets its response end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _RequestBody(receive)

        async def send_on(message: Message) -> None:
            if message["type"] != "http.response.body" or message.get("more_body") or body.ended:
                await send(message)
                return
            await send({**message, "more_body": True})
            await body.drain()
            await send({"type": "http.response.body", "body": b""})

        await self._app(scope, body.receive, send_on)


class _RequestBody:
    """A request's body, and whether all of it has come."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = False

    async def receive(self) -> Message:
        """The next part of it."""
        message = await self._receive()
        self.ended = self.ended or message["type"] == "http.disconnect" or not message.get("more_body")
        return message

    async def drain(self) -> None:
        """Read the rest, up to the bound."""
        taken = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(_MAX_DRAINING_SECONDS):
                while not self.ended and taken < _MAX_DRAINED_BYTES:
                    taken += len((await self.receive()).get("body", b""))
