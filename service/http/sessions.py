"""Sessions of the web page: a browser signs in with an API key once, and then sends a cookie that names its session.

The cookie is a random token, not the key: it can't be read by scripts (HttpOnly), is sent by pages of the service only
(SameSite=Strict), and ends when the browser signs out, its key is revoked or expires, or the service restarts, unless
its library is in PostgreSQL.
"""

import asyncio
import secrets

from fastapi import Request, Response

from graph_store.service_state import ServiceState
from service.keys import secret_digest

__all__ = ["SESSION_SECONDS", "Sessions", "clear_cookie", "session_token", "set_cookie"]

SESSION_SECONDS = 30 * 86_400
"""How long a session lasts."""

_COOKIE = "paperscope_session"


class Sessions:
    """The open sessions, each of an API key; a state that several processes share has them all.

    Every method may raise StoreError.
    """

    def __init__(self, state: ServiceState) -> None:
        self._state = state

    async def begin(self, key_id: str) -> str:
        """Begin a session; return its token."""
        token = secrets.token_urlsafe(32)
        await asyncio.to_thread(self._state.begin_session, secret_digest(token), key_id, seconds=SESSION_SECONDS)
        return token

    async def key_id(self, token: str) -> str | None:
        """Return the id of a session's key; None if there is no such session, or it has ended."""
        return await asyncio.to_thread(self._state.session_key, secret_digest(token)) if token else None

    async def end(self, token: str) -> None:
        """End a session, if there is one."""
        if token:
            await asyncio.to_thread(self._state.end_session, secret_digest(token))


def session_token(request: Request) -> str:
    """Return the session that a request's cookie names, or ""."""
    return request.cookies.get(_cookie_name(request), "")


def set_cookie(request: Request, response: Response, token: str) -> None:
    """Let the browser keep a session's token."""
    _write_cookie(request, response, token, max_age=SESSION_SECONDS)


def clear_cookie(request: Request) -> str:
    """Return the value of the header `Set-Cookie` that makes the browser forget the session's token."""
    response = Response()
    _write_cookie(request, response, "", max_age=0)
    return response.headers["set-cookie"]


def _write_cookie(request: Request, response: Response, token: str, *, max_age: int) -> None:
    secure = request.url.scheme == "https"
    # That of the service, "/" unless it is below a path of a proxy.
    path = request.base_url.path
    response.set_cookie(
        _cookie_name(request), token, max_age=max_age, path=path, secure=secure, httponly=True, samesite="strict"
    )


def _cookie_name(request: Request) -> str:
    """Return a name of each port's own, because a browser sends the cookies of a host to all of its ports."""
    port = request.url.port
    return f"{_COOKIE}_{port}" if port else _COOKIE
