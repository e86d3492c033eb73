"""The routes, a module for each subject."""

from fastapi import APIRouter

from service.http.routes import batches, elements, graph, health, images, jobs, openai, papers, query

__all__ = ["ROUTERS"]


ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    papers.router,
    jobs.router,
    elements.router,
    images.router,
    graph.router,
    query.router,
    batches.router,
    openai.router,
)
