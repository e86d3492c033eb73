"""The routes of the HTTP service, a module a subject."""

from fastapi import APIRouter

from service.http.routes import (
    health,
    metrics,
    openai,
    query,
    retrieve,
)

__all__ = ["ROUTERS"]

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    metrics.router,
    query.router,
    retrieve.router,
    openai.router,
)
