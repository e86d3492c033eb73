"""The middleware, in the order in which a request passes through it.

`ObservabilityMiddleware` is outermost, so that it sees every response, also those to unexpected errors;
`AuthMiddleware` and `MethodMiddleware` surround the router. `app.py` puts them together.
"""

import asyncio
import re
import secrets
import time
from contextlib import ExitStack, suppress
from typing import cast

from fastapi import FastAPI, Request
from fastapi.sse import format_sse_event
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, clear_contextvars

from paperscope_core.errors import StoreError
from service.http.auth import Service, admit, authenticate, check_local, unknown_key, while_key_works
from service.http.limits import CROWDED_RETRY_SECONDS, ConcurrencyLimit, limit_body
from service.http.metrics import RequestRecord
from service.http.problems import ProblemError, error_response, error_text
from service.http.shutdown import Shutdown, shutdown_problem
from service.logs import event_log

__all__ = [
    "HEAD_TOO_LARGE",
    "MAX_HEAD_BYTES",
    "SECURITY_HEADERS",
    "AdmissionMiddleware",
    "AuthMiddleware",
    "BodySizeMiddleware",
    "DrainingMiddleware",
    "MethodMiddleware",
    "ObservabilityMiddleware",
    "SecurityHeadersMiddleware",
    "limit_other_app",
]

MAX_HEAD_BYTES = 32_768
"""The size limit of a request line and its headers together."""

HEAD_TOO_LARGE = "head-too-large", f"The request's line and headers are over the limit of {MAX_HEAD_BYTES} bytes."
"""The kind and detail of the problem of a larger one."""

# Without underscores, so that an API key is never mistaken for one.
_REQUEST_ID = re.compile(r"[0-9A-Za-z-]{8,64}")
# Of JSON bodies; routes that take files have their own.
_MAX_BODY_BYTES = 1_000_000
_METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
_HEALTH = frozenset({"/healthz", "/readyz"})
_PROBES = _HEALTH | {"/metrics"}
_CLIENT_CLOSED_REQUEST = 499
# The rest of a body is read up to these bounds: a client that sends more may lose the response.
_MAX_DRAINED_BYTES = 4_000_000
_MAX_DRAINING_SECONDS = 2.0
# A route that returns something else (an image that may be cached, a table as HTML) sets its own.
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""The headers of every response, also of those that the server itself sends."""
# A colon, a space and a line break.
_HEADER_OVERHEAD_BYTES = 4
_PROTECTED = ("/v1/", "/metrics", "/mcp")
_SIGN_IN = "/v1/session"
_UPLOADS = ("/v1/papers", "/v1/papers/estimate", "/v1/batch")

_log = event_log("service.requests")


class _Middleware:
    """Middleware for HTTP requests; lifespan events pass unchanged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "http":
            await self._handle(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError


class ObservabilityMiddleware(_Middleware):
    """Logs and counts each request.

    A request has an id, the caller's (`X-Request-ID`, if it has the form of one) or a new one. It is returned, and
    bound to every line that is logged meanwhile.
    """

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        super().__init__(app)
        self._service = service

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        given_id = headers.get("x-request-id", "")
        request_id = given_id if _REQUEST_ID.fullmatch(given_id) else secrets.token_hex(16)
        # It stays bound after the request, as uvicorn logs unexpected errors later.
        clear_contextvars()
        bind_contextvars(request_id=request_id)
        status = sent = 0

        async def observed_send(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            elif message["type"] == "http.response.body":
                sent += len(message.get("body", b""))
            await send(message)

        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        state = scope.setdefault("state", {})
        began = time.perf_counter()
        with self._service.shutdown.request():
            try:
                await self._app(scope, receive, observed_send)
            except BaseException as error:
                state.setdefault("problem", type(error).__name__)
                raise
            finally:
                record = RequestRecord(
                    method=method,
                    route=str(getattr(scope.get("route"), "path", "")),
                    status=status or _CLIENT_CLOSED_REQUEST,
                    seconds=time.perf_counter() - began,
                    caller=str(state.get("caller_name", "")),
                    sent=sent,
                    problem=str(state.get("problem", "")),
                    where=str(state.get("where", "")),
                )
                self._service.metrics.count_request(record)
                _log_request(record)


def _log_request(record: RequestRecord) -> None:
    """Log a request, unless it is a successful probe."""
    if record.route in _PROBES and record.status < 400:
        return
    fields = {"method": record.method, "route": record.route, "status": record.status}
    optional = {"caller": record.caller, "bytes": record.sent, "problem": record.problem, "where": record.where}
    given = {name: value for name, value in optional.items() if value}
    log = _log.error if record.status >= 500 else _log.info
    log("request", **fields, seconds=round(record.seconds, 4), **given)


class DrainingMiddleware(_Middleware):
    """Reads the rest of a request's body before its response ends.

    If a server responds and closes while the client still sends, the connection is reset, and the client may never see
    the response.
    """

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        received = False

        async def tracked_receive() -> Message:
            nonlocal received
            message = await receive()
            received = received or message["type"] == "http.disconnect" or not message.get("more_body")
            return message

        async def drain() -> None:
            drained = 0
            with suppress(TimeoutError):
                async with asyncio.timeout(_MAX_DRAINING_SECONDS):
                    while not received and drained < _MAX_DRAINED_BYTES:
                        drained += len((await tracked_receive()).get("body", b""))

        async def draining_send(message: Message) -> None:
            if message["type"] != "http.response.body" or message.get("more_body") or received:
                await send(message)
            else:
                await send({**message, "more_body": True})
                await drain()
                await send({"type": "http.response.body", "body": b""})

        await self._app(scope, tracked_receive, draining_send)


class SecurityHeadersMiddleware(_Middleware):
    """Adds headers to every response that keep a browser from running, embedding or storing it.

    A process that finishes its connections also says so.
    """

    def __init__(self, app: ASGIApp, *, shutdown: Shutdown) -> None:
        super().__init__(app)
        self._shutdown = shutdown

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if self._shutdown.finishing:
                    headers["Connection"] = "close"
            await send(message)

        await self._app(scope, receive, send_with_headers)


class AdmissionMiddleware(_Middleware):
    """Refuses requests while too many clients are connected, but those for its health, and requests whose head is too
    large.

    The server sets `crowded` in the scope's state.
    """

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(scope)
        app = self._app if refusal is None else error_response(Request(scope), refusal)
        await app(scope, receive, send)


def _refusal(scope: Scope) -> ProblemError | None:
    if scope["state"].get("crowded") and scope["path"] not in _HEALTH:
        detail = "As many clients are connected as this service takes; come back after the seconds of Retry-After."
        headers = {"Retry-After": str(CROWDED_RETRY_SECONDS), "Connection": "close"}
        return ProblemError(503, "too-many-clients", detail, headers=headers)
    # The server limits only incomplete heads: one that arrives in a single piece passes, however large.
    size = len(scope["raw_path"]) + len(scope["query_string"])
    size += sum(len(name) + len(value) + _HEADER_OVERHEAD_BYTES for name, value in scope["headers"])
    if size > MAX_HEAD_BYTES:
        kind, detail = HEAD_TOO_LARGE
        return ProblemError(431, kind, detail, headers={"Connection": "close"})
    return None


class BodySizeMiddleware(_Middleware):
    """Limits the bodies of requests; the routes of uploads have limits of their own."""

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        limited = receive if scope["path"] in _UPLOADS else limit_body(scope, receive, max_bytes=_MAX_BODY_BYTES)
        await self._app(scope, limited, send)


def limit_other_app(app: ASGIApp, *, keyed: bool) -> ASGIApp:
    """Return the app of another program with limits on its clients, for a server with our `Protocol`; unless it is
    `keyed`, it refuses requests of web pages of other sites."""
    app = BodySizeMiddleware(app)
    return AdmissionMiddleware(app if keyed else _LocalMiddleware(app))


class _LocalMiddleware(_Middleware):
    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        try:
            check_local(Request(scope))
        except ProblemError as error:
            app = error_response(Request(scope), error)
        await app(scope, receive, send)


class AuthMiddleware(_Middleware):
    """Authenticates the caller of `/v1/…`, `/mcp` and `/metrics` before the body is received, and ends the request when
    their key is revoked or expires.

    A key has a limit of requests at once. No route can forget it. Health, the OpenAPI document and the web page are
    open to all. So is signing in, which counts against the rate limit of the address.
    """

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        super().__init__(app)
        self._service = service
        self._at_once = ConcurrencyLimit()

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith(_PROTECTED):
            return await self._app(scope, receive, send)
        request = Request(scope)
        with ExitStack() as running:
            try:
                if self._service.shutdown.begun.is_set():
                    raise shutdown_problem()
                if scope["path"] == _SIGN_IN:
                    await admit(request, self._service)
                    return await self._app(scope, receive, send)
                caller = request.state.caller = await authenticate(request, self._service)
                if caller.keyed:
                    running.enter_context(self._at_once.request(caller.name))
            except (ProblemError, StoreError) as error:
                return await error_response(request, error)(scope, receive, send)
            if not caller.keyed:
                return await self._app(scope, receive, send)
            return await self._run_while_key_works(request, receive, send)

    async def _run_while_key_works(self, request: Request, receive: Receive, send: Send) -> None:
        started: Message | None = None

        async def noted_send(message: Message) -> None:
            nonlocal started
            started = started or message
            await send(message)

        timeout = asyncio.timeout(None)
        try:
            async with while_key_works(self._service, request.state.caller, timeout):
                await self._app(request.scope, receive, noted_send)
        # Task groups in the app wrap what the cancellation raises.
        except (TimeoutError, BaseExceptionGroup):
            if not timeout.expired():
                raise
            if started is None:
                await error_response(request, unknown_key())(request.scope, receive, send)
            elif Headers(raw=started["headers"]).get("content-type", "").startswith("text/event-stream"):
                event = format_sse_event(event="error", data_str=error_text(request, unknown_key()))
                await send({"type": "http.response.body", "body": event})
            # Any other response stays incomplete, and the server closes the connection.


class MethodMiddleware(_Middleware):
    """Answers HEAD like GET without a body, and lists all methods of a path in `Allow`.

    The router would list only those of the first route that matches.
    """

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = scope["method"] == "HEAD"
        inner = {**scope, "method": "GET"} if head else scope
        ended = False

        async def adapted_send(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start" and message["status"] == 405 and "route" in inner:
                MutableHeaders(scope=message)["Allow"] = ", ".join(_allowed_methods(inner))
            if head and message["type"] == "http.response.body":
                if ended:
                    return
                ended, message = True, {"type": "http.response.body", "body": b""}
            await send(message)

        try:
            await self._app(inner, receive, adapted_send)
        finally:
            if "route" in inner:
                scope["route"] = inner["route"]


def _allowed_methods(scope: Scope) -> list[str]:
    """Return the methods of the requested path that the OpenAPI document lists, or else those of its route."""
    route = scope["route"]
    documented = cast("FastAPI", scope["app"]).openapi()["paths"].get(route.path, {})
    methods = {*map(str.upper, documented), *(route.methods or ())}
    return sorted(methods | {"HEAD"} if "GET" in methods else methods)
