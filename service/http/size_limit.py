"""How large a body may be that is read as JSON; routes that take files have limits of their own."""

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.problems import problem_response

__all__ = ["MOST_BYTES", "SizeProblems"]

MOST_BYTES = 1_000_000


class SizeProblems:
    """Middleware that makes a problem document of FastAPI's plain "Content Too Large"."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        replaced = False

        async def told(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and _is_plain_413(message):
                replaced = True
                detail = f"The body is over the limit of {MOST_BYTES / 1e6:g} MB."
                # The rest of it isn't read.
                close = {"Connection": "close"}
                response = problem_response(Request(scope), 413, "too-large", detail, headers=close)
                await response(scope, receive, send)
            elif not replaced:
                await send(message)

        await self._app(scope, receive, told)


def _is_plain_413(message: Message) -> bool:
    kind = Headers(raw=message["headers"]).get("content-type", "")
    return message["status"] == 413 and kind.startswith("text/plain")
