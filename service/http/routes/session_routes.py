"""The session of the web page: sign in with an API key, look whether one is signed in, sign out."""

import asyncio
import hashlib
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from paperscope_core.errors import KeyFileError
from paperscope_core.locations import location_text
from service.http.auth import ServiceOf, keys_unreadable, unknown_key
from service.http.responses import document_example
from service.http.sessions import clear_cookie, session_token, set_cookie

__all__ = ["router"]

router = APIRouter(prefix="/v1/session", tags=["session"])

_MAX_KEY_LENGTH = 1000


class SignIn(BaseModel):
    """An API key."""

    model_config = ConfigDict(extra="forbid")

    key: Annotated[str, Field(min_length=1, max_length=_MAX_KEY_LENGTH, description="a key that works")]


class SessionView(BaseModel):
    """Whether the service takes keys (`required`), whether the caller may use it (`signed_in`), and the name of the key
    that they signed in with. `library` differs for keys of other libraries."""

    required: bool
    signed_in: bool
    name: str
    library: str


@router.get("", summary="Show the session", responses=document_example("session"))
async def show_session(request: Request, response: Response, service: ServiceOf) -> SessionView:
    """Open to everybody. A cookie whose session has ended is cleared."""
    if not service.requires_key:
        return SessionView(required=False, signed_in=True, name="", library="")
    key = await service.key_of_session(session_token(request))
    if key is None and session_token(request):
        response.headers["Set-Cookie"] = clear_cookie(request)
    if key is None:
        return SessionView(required=True, signed_in=False, name="", library="")
    # Its place is nobody's business.
    library = hashlib.sha256(location_text(key.library).encode()).hexdigest()[:16]
    return SessionView(required=True, signed_in=True, name=key.name, library=library)


@router.post("", summary="Sign in", status_code=204)
async def sign_in(request: Request, body: SignIn, service: ServiceOf) -> Response:
    """For the web page: begins a session with an API key and sets its cookie, which scripts can't read. Programs send
    the key with each request instead."""
    response = Response(status_code=204)
    if service.requires_key:
        try:
            key = await asyncio.to_thread(service.keys.find, body.key)
        except KeyFileError as error:
            raise keys_unreadable() from error
        if key is None:
            raise unknown_key()
        await service.sessions.end(session_token(request))
        set_cookie(request, response, await service.sessions.begin(key.id))
    return response


@router.delete("", summary="Sign out", status_code=204)
async def sign_out(request: Request, service: ServiceOf) -> Response:
    """End the session of the cookie, and clear it and what the browser has kept; without one, do nothing."""
    await service.sessions.end(session_token(request))
    headers = {"Set-Cookie": clear_cookie(request), "Clear-Site-Data": '"cache"'}
    return Response(status_code=204, headers=headers)
