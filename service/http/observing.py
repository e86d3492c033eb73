"""What is known of each request when it has ended, told to those who count and write it down.

It stands outermost, so that it sees every response, also those to errors that nobody foresaw. A request has an id,
its caller's (`X-Request-ID`, if it looks like one) or a new one; it is returned, and every line of the log that is
written meanwhile has it.
"""

import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, clear_contextvars

from service.logs import event_log
from service.tracing import Tracing

__all__ = ["Observing", "Seen", "log_request"]

# No underscore: a key of this service never looks like an id.
_ID = re.compile(r"[0-9A-Za-z-]{8,64}")
_METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
_HUNG_UP = 499

_log = event_log("service.requests")


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """A request that has ended.

    `route` is the template of its path ("" where no route has it), never the path itself; `caller` the id of the key,
    or "local"; `sent` counts the bytes of the response's body; `problem` names the problem that it was told, or the
    type of an error that nobody foresaw, and `where` the folder or address that the problem is about. `status` is 499
    where the client hung up before there was a response.
    """

    method: str
    route: str
    status: int
    seconds: float
    caller: str
    sent: int
    problem: str
    where: str


class Observing:
    """Middleware that tells `observe` of each request, and traces it."""

    def __init__(self, app: ASGIApp, *, observe: Callable[[Seen], None], tracing: Tracing) -> None:
        self._app = app
        self._observe = observe
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request and tell of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        response = _Response(send, request_id=_request_id(headers))
        # It stays bound when the request has ended: the server logs unforeseen errors after that.
        clear_contextvars()
        bind_contextvars(request_id=response.request_id)
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        state = scope.setdefault("state", {})
        began = time.perf_counter()
        with self._tracing.request(method, headers) as trace:
            try:
                await self._app(scope, receive, response.send)
            except BaseException as error:
                state.setdefault("problem", type(error).__name__)
                raise
            finally:
                seen = Seen(
                    method=method,
                    route=str(getattr(scope.get("route"), "path", "")),
                    status=response.status or _HUNG_UP,
                    seconds=time.perf_counter() - began,
                    caller=str(state.get("caller_name", "")),
                    sent=response.sent,
                    problem=str(state.get("problem", "")),
                    where=str(state.get("where", "")),
                )
                trace(seen.route, seen.status)
                self._observe(seen)


class _Response:
    """The response on its way: its status, how much of it was sent."""

    def __init__(self, send: Send, *, request_id: str) -> None:
        self._send = send
        self.request_id = request_id
        self.status = 0
        self.sent = 0

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)["X-Request-ID"] = self.request_id
        elif message["type"] == "http.response.body":
            self.sent += len(message.get("body", b""))
        await self._send(message)


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _ID.fullmatch(given) else secrets.token_hex(16)


def log_request(seen: Seen) -> None:
    """Write a request into the log; those who only look whether the service lives are left out."""
    if seen.route in _PROBES and seen.status < 400:
        return
    fields = {"method": seen.method, "route": seen.route, "status": seen.status, "seconds": round(seen.seconds, 4)}
    more = {"caller": seen.caller, "bytes": seen.sent, "problem": seen.problem, "where": seen.where}
    tell = _log.error if seen.status >= 500 else _log.info
    tell("request", **fields, **{name: value for name, value in more.items() if value})
