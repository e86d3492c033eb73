"""Health, readiness and metrics. Health and readiness are open to everybody and say nothing about papers."""

import asyncio
from typing import Literal

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import BaseModel

from paperscope.library import open_store
from paperscope_core.errors import KeyFileError
from paperscope_core.locations import files_folder
from service.http.auth import CallerOf, Service, ServiceOf, keys_unreadable
from service.http.problems import ProblemError
from service.http.shutdown import shutdown_problem

__all__ = ["router"]

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The state of the service."""

    status: Literal["ok"] = "ok"


class MetricsResponse(Response):
    """Prometheus' text format."""

    media_type = CONTENT_TYPE_PLAIN_0_0_4


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> Health:
    """Return 200 as long as the process responds."""
    return Health()


@router.get("/readyz", summary="Can it serve?")
async def readyz(service: ServiceOf) -> Health:
    """Return 200 while requests are accepted, and a problem document with 503 during shutdown or if no library can be
    read."""
    if service.shutdown.begun.is_set():
        raise shutdown_problem()
    await asyncio.to_thread(_check_keyed if service.requires_key else _check, service)
    return Health()


@router.get("/metrics", summary="Metrics for Prometheus", response_class=MetricsResponse)
async def metrics(service: ServiceOf, _caller: CallerOf) -> Response:
    """Return requests, latencies, questions, jobs, model usage and process metrics of the whole service, for any
    API key. They contain no names of any kind."""
    return MetricsResponse(await asyncio.to_thread(service.metrics.text))


def _check(service: Service) -> None:
    open_store(service.settings.library).close()


def _check_keyed(service: Service) -> None:
    """Check that a library's folder exists or can be created; the reply names no folder, because it is public."""
    try:
        folders = service.library_folders()
    except KeyFileError as error:
        raise keys_unreadable() from error
    if folders and not any(folder.is_dir() or folder.parent.is_dir() for folder in map(files_folder, folders)):
        detail = "None of the libraries of the API keys is there; is their disk or volume mounted?"
        raise ProblemError(503, "no-library", detail, headers={"Retry-After": "30"})
