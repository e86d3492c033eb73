"""What a reverse proxy says of a request: who calls, by which scheme, and below which path the service is."""

from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from paperscope_core.settings.fields import PATH_PREFIX

__all__ = ["ForwardedMiddleware"]


class ForwardedMiddleware:
    """Applies the headers of the proxies that are named, and takes the service's own path off the path of a request.

    Everything inside sees the path without it, whether the proxy strips it or not. Starlette's `root_path` is not set:
    the router would strip it again, from a path that was authenticated as another one.

    Args:
        proxies: Addresses and networks of proxies; headers of others are ignored.
        root_path: The path of the service, if no proxy names one; "" for none.
    """

    def __init__(self, app: ASGIApp, *, proxies: Sequence[str], root_path: str) -> None:
        self._forwarding = ProxyHeadersMiddleware(app, trusted_hosts=list(proxies))  # type: ignore[arg-type]
        self._root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with what the proxy says of it."""
        prefix = self._prefix(scope) if scope["type"] == "http" else ""
        path = scope.get("path", "")
        if prefix and path == prefix:
            # Relative addresses of the page need the slash.
            await RedirectResponse(f"{prefix}/", status_code=308)(scope, receive, send)
            return
        if prefix:
            # For `Request.base_url`.
            scope["app_root_path"] = prefix
            scope["path"] = path.removeprefix(prefix) if path.startswith(f"{prefix}/") else path

        async def send_located(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("location", "").startswith("/"):
                    headers["location"] = prefix + headers["location"]
            await send(message)

        await self._forwarding(scope, receive, send_located if prefix else send)  # type: ignore[arg-type]

    def _prefix(self, scope: Scope) -> str:
        client = scope.get("client")
        if client and client[0] in self._forwarding.trusted_hosts:
            stated = Headers(scope=scope).get("x-forwarded-prefix", "").rstrip("/")
            if PATH_PREFIX.fullmatch(stated):
                return stated
        return self._root_path
