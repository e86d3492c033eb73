"""The routes of the HTTP service, a module a subject."""

from fastapi import APIRouter

from service.http.routes import (
    adding,
    batch,
    elements,
    graph,
    health,
    jobs,
    metrics,
    openai,
    papers,
    pictures,
    query,
    retrieve,
)

__all__ = ["ROUTERS"]

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    metrics.router,
    papers.router,
    adding.router,
    jobs.router,
    elements.router,
    pictures.router,
    graph.router,
    query.router,
    retrieve.router,
    batch.router,
    openai.router,
)
