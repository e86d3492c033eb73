"""The service's numbers, for Prometheus. They are the whole service's: with API keys, any key may read them."""

import asyncio

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from service.http.access import CallerOf, ServiceOf

__all__ = ["router"]

router = APIRouter(tags=["health"])


class Numbers(Response):
    """Prometheus' text form."""

    media_type = CONTENT_TYPE_PLAIN_0_0_4


@router.get("/metrics", summary="Numbers for Prometheus", response_class=Numbers)
async def metrics(service: ServiceOf, _caller: CallerOf) -> Response:
    """Requests, latencies, questions, jobs, model usage, and what the process takes. No names of any kind."""
    return Numbers(await asyncio.to_thread(service.metrics.text))
