"""The routes of the HTTP service, a module a subject."""

from fastapi import APIRouter

from service.http.routes import elements, graph, health, papers, pictures

__all__ = ["ROUTERS"]

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    papers.router,
    elements.router,
    pictures.router,
    graph.router,
)
