"""The door: who calls is known before anything of a request is read.

It stands before the routes, so that no route can forget to ask, and a stranger's body is not even received.
"""

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.access import Service, identify
from service.http.ending import ending_problem
from service.http.errors import error_reply
from service.http.problems import ProblemError

__all__ = ["Door"]

_GUARDED = ("/v1/", "/metrics")


class Door:
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
                raise ending_problem()
            request.state.caller = await identify(request, self._service)
        except ProblemError as error:
            await error_reply(request, error)(scope, receive, send)
            return
        await self._app(scope, receive, send)
