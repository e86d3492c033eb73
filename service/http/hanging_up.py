"""A client that hangs up stops the work that it asked for."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

from service.http.problems import ProblemError

__all__ = ["while_connected"]

T = TypeVar("T")


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work comes to; it is cancelled, and has ended, once the client is gone (ProblemError: 499).

    The request's body must have been read.
    """
    working = asyncio.create_task(work)
    gone = asyncio.create_task(_hung_up(request))
    try:
        done, _ = await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        if working.cancel():
            await asyncio.wait({working})
    if working in done:
        return working.result()
    raise ProblemError(499, "client-gone", "The client hung up before there was an answer.")


async def _hung_up(request: Request) -> None:
    """Return when the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
