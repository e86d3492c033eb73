"""The routes of the HTTP service, a module a subject."""

from fastapi import APIRouter

from service.http.routes import (
    adding,
    batch,
    health,
    jobs,
    openai,
    query,
    retrieve,
)

__all__ = ["ROUTERS"]

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    adding.router,
    jobs.router,
    query.router,
    retrieve.router,
    batch.router,
    openai.router,
)
