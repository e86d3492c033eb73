"""What is refused before a request is looked at: where too many are connected, and where its head is too large."""

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.errors import error_reply
from service.http.problems import ProblemError

__all__ = ["HEAD_BYTES", "HEAD_TOO_LARGE", "Bounds"]

HEAD_BYTES = 32_768
"""How large a request's line and headers may be together."""

HEAD_TOO_LARGE = "head-too-large", f"The request's line and headers are over the limit of {HEAD_BYTES} bytes."
"""The kind of the problem where they are larger, and what is said of it."""

_RETRY_SECONDS = 5
# What stands round a header: a colon, a space, an end of line.
_ROUND = 4


class Bounds:
    """Middleware that refuses such requests. The server tells by its scope's state whether it is `crowded`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        refusal = _refusal(scope) if scope["type"] == "http" else None
        app = self._app if refusal is None else error_reply(Request(scope), refusal)
        await app(scope, receive, send)


def _refusal(scope: Scope) -> ProblemError | None:
    if scope["state"].get("crowded"):
        detail = "As many clients are connected as this service takes; come back after the seconds of Retry-After."
        headers = {"Retry-After": str(_RETRY_SECONDS), "Connection": "close"}
        return ProblemError(503, "too-many-clients", detail, headers=headers)
    # The server bounds only what it has to wait for: a head that comes in one piece passes, however large.
    if _head_bytes(scope) > HEAD_BYTES:
        kind, detail = HEAD_TOO_LARGE
        return ProblemError(431, kind, detail, headers={"Connection": "close"})
    return None


def _head_bytes(scope: Scope) -> int:
    line = len(scope["raw_path"]) + len(scope["query_string"])
    return line + sum(len(name) + len(value) + _ROUND for name, value in scope["headers"])
