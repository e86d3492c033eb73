"""What a path answers to: HEAD wherever there is GET, and to any other method with those that it knows."""

from typing import cast

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Methods"]

_NOT_ALLOWED = 405


class Methods:
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
            if message["type"] == "http.response.start" and message["status"] == _NOT_ALLOWED and "route" in inner:
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
