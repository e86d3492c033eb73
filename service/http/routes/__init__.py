"""The routes of the HTTP service, a module for each subject."""

from fastapi import APIRouter

from service.http.routes.batches import router as batches
from service.http.routes.bibliography import router as bibliography
from service.http.routes.conversations import router as conversations
from service.http.routes.elements import router as elements
from service.http.routes.exports import router as exports
from service.http.routes.graph import router as graph
from service.http.routes.health import router as health
from service.http.routes.images import router as images
from service.http.routes.jobs import router as jobs
from service.http.routes.openai import router as openai
from service.http.routes.papers import router as papers
from service.http.routes.query import router as query
from service.http.routes.reference import router as reference
from service.http.routes.session import router as session
from service.http.routes.settings import router as settings
from service.http.routes.web import router as web

__all__ = ["ROUTERS"]

ROUTERS: tuple[APIRouter, ...] = (
    web,
    reference,
    health,
    session,
    settings,
    bibliography,
    papers,
    jobs,
    elements,
    images,
    graph,
    query,
    conversations,
    exports,
    batches,
    openai,
)
