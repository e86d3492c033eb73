"""Sessions of the web page: a browser signs in with an API key once, and then sends a cookie that names its session.

The cookie is a random token, not the key: it can't be read by scripts (HttpOnly), is sent by pages of the service only
(SameSite=Strict), and ends when the browser signs out, its key is revoked or expires, or the service restarts.
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from fastapi import Request, Response

__all__ = ["SESSION_SECONDS", "Sessions", "clear_cookie", "session_token", "set_cookie"]

SESSION_SECONDS = 30 * 86_400
"""How long a session lasts."""

_COOKIE = "paperscope_session"
# Bounds the memory: the oldest sessions end.
_MAX_SESSIONS = 10_000


class Sessions:
    """The open sessions, each of an API key. For use on one event loop.

    Args:
        clock: Returns seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # By token: the id of the key, and when the session ends.
        self._sessions: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def begin(self, key_id: str) -> str:
        """Begins a session; returns its token."""
        token = secrets.token_urlsafe(32)
        self._sessions[token] = key_id, self._clock() + SESSION_SECONDS
        if len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return token

    def key_id(self, token: str) -> str | None:
        """The id of a session's key; None if there is no such session, or it has ended."""
        key_id, ends = self._sessions.get(token, (None, 0.0))
        return key_id if self._clock() < ends else None

    def end(self, token: str) -> None:
        """Ends a session, if there is one."""
        self._sessions.pop(token, None)


def session_token(request: Request) -> str:
    """The session that a request's cookie names, or ""."""
    return request.cookies.get(_cookie_name(request), "")


def set_cookie(request: Request, response: Response, token: str) -> None:
    """Lets the browser keep a session's token."""
    _write_cookie(request, response, token, max_age=SESSION_SECONDS)


def clear_cookie(request: Request) -> str:
    """The value of the header `Set-Cookie` that makes the browser forget the session's token."""
    response = Response()
    _write_cookie(request, response, "", max_age=0)
    return response.headers["set-cookie"]


def _write_cookie(request: Request, response: Response, token: str, *, max_age: int) -> None:
    secure = request.url.scheme == "https"
    response.set_cookie(
        _cookie_name(request), token, max_age=max_age, path="/", secure=secure, httponly=True, samesite="strict"
    )


def _cookie_name(request: Request) -> str:
    """A name of each port's own, because a browser sends the cookies of a host to all of its ports."""
    port = request.url.port
    return f"{_COOKIE}_{port}" if port else _COOKIE
