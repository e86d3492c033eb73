"""The routes, a module for each subject."""

from fastapi import APIRouter

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
