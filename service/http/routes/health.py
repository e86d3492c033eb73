"""Whether the service lives, and whether it can serve. Both are open to everybody and say nothing about papers."""

import asyncio
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from graph_store import Store
from service.http.access import ServiceOf

__all__ = ["router"]

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """How the service is."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", summary="Does the process answer?")
async def healthz() -> Health:
    """Answers as long as the process does."""
    return Health()


@router.get("/readyz", summary="Can it serve?")
async def readyz(service: ServiceOf) -> Health:
    """Answers 200 once the library can be read, a problem document with 503 where it can't."""

    def look() -> None:
        Store.open(service.settings.library).close()

    if not service.keyed:
        await asyncio.to_thread(look)
    return Health()
