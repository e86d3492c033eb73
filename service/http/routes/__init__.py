"""The routes of the HTTP service, a module a subject."""

from fastapi import APIRouter

from service.http.routes import (
    adding,
    batch,
    health,
    jobs,
    metrics,
    openai,
    query,
    retrieve,
)

__all__ = ["ROUTERS"]

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    metrics.router,
    adding.router,
    jobs.router,
    query.router,
    retrieve.router,
    batch.router,
    openai.router,
)
