"""How large a body may be that is read as JSON; routes that take files have limits of their own."""

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.errors import error_reply
from service.http.problems import ProblemError

__all__ = ["MOST_BYTES", "SizeProblems"]

MOST_BYTES = 1_000_000
_KIND = "too-large"


class SizeProblems:
    """Middleware that makes of FastAPI's "Content Too Large" an error that tells the limit."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        replaced, state = False, scope["state"]

        async def told(message: Message) -> None:
            nonlocal replaced
            start = message["type"] == "http.response.start"
            if start and message["status"] == 413 and state.get("problem") != _KIND:
                replaced = True
                detail = f"The body is over the limit of {MOST_BYTES / 1e6:g} MB."
                # The rest of it isn't read.
                close = {"Connection": "close"}
                response = error_reply(Request(scope), ProblemError(413, _KIND, detail, headers=close))
                await response(scope, receive, send)
            elif not replaced:
                await send(message)

        await self._app(scope, receive, told)
