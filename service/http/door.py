"""The door: who calls is known before anything of a request is read.

It stands before the routes, so that no route can forget to ask, and a stranger's body is not even received.
"""

from fastapi import Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.access import Service, identify
from service.http.chat import error_response
from service.http.ending import ending_problem
from service.http.problems import ProblemError, problem_response

__all__ = ["Door"]

_GUARDED = ("/v1/", "/metrics")
_OPENAI = ("/v1/models", "/v1/chat/completions")


class Door:
    """Middleware that lets callers in to `/v1/…` and `/metrics`; health and the OpenAPI document are open to all."""

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it with a problem document."""
        if scope["type"] != "http" or not scope["path"].startswith(_GUARDED):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            if self._service.ending.begun.is_set():
                raise ending_problem()
            request.state.caller = await identify(request, self._service)
        except ProblemError as error:
            await _refusal(request, error)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _refusal(request: Request, error: ProblemError) -> Response:
    if request.scope["path"] in _OPENAI:
        return error_response(request, error)
    return problem_response(request, error.status_code, error.kind, str(error.detail), headers=error.headers)
