"""Health, readiness and metrics."""

import asyncio
from typing import Literal

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import BaseModel

from graph_store import Store
from paperscope_core.errors import KeyFileError
from service.http.auth import CallerOf, Service, ServiceOf, keys_unreadable
from service.http.problems import ProblemError
from service.http.shutdown import shutdown_problem

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
    """Answers 200 while requests are welcome, a problem document with 503 where they aren't: the service is ending, or
    no library can be read."""
    if service.ending.begun.is_set():
        raise shutdown_problem()
    await asyncio.to_thread(_look_keyed if service.keyed else _look, service)
    return Health()


def _look(service: Service) -> None:
    Store.open(service.settings.library).close()


def _look_keyed(service: Service) -> None:
    """Anybody may ask, so that no name of a file or library is told. A library that is not there yet is made when it is
    first used."""
    try:
        folders = service.library_folders()
    except KeyFileError as error:
        raise keys_unreadable() from error
    if folders and not any(folder.is_dir() or folder.parent.is_dir() for folder in folders):
        detail = "No library is where the API keys say; is the disk or volume there that holds them?"
        raise ProblemError(503, "no-library", detail, headers={"Retry-After": "30"})


class Numbers(Response):
    """Prometheus' text form."""

    media_type = CONTENT_TYPE_PLAIN_0_0_4


@router.get("/metrics", summary="Numbers for Prometheus", response_class=Numbers)
async def metrics(service: ServiceOf, _caller: CallerOf) -> Response:
    """Requests, latencies, questions, jobs, model usage, and what the process takes. No names of any kind."""
    return Numbers(await asyncio.to_thread(service.metrics.text))
