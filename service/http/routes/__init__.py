"""The routes of the HTTP service, a module for each subject."""

from fastapi import APIRouter

from service.http.routes.batch_routes import router as batches
from service.http.routes.bibtex_routes import router as bibliography
from service.http.routes.conversation_routes import router as conversations
from service.http.routes.element_routes import router as elements
from service.http.routes.embedding_routes import router as embeddings
from service.http.routes.export_routes import router as exports
from service.http.routes.graph_routes import router as graph
from service.http.routes.health_routes import router as health
from service.http.routes.image_routes import router as images
from service.http.routes.job_routes import router as jobs
from service.http.routes.literature_routes import router as literature
from service.http.routes.mcp_routes import router as mcp
from service.http.routes.note_routes import router as notes
from service.http.routes.openai_routes import router as openai
from service.http.routes.paper_routes import router as papers
from service.http.routes.query_routes import router as query
from service.http.routes.reference_routes import router as reference
from service.http.routes.session_routes import router as session
from service.http.routes.settings_routes import router as settings
from service.http.routes.tool_routes import router as tools
from service.http.routes.web_routes import router as web

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
    tools,
    conversations,
    exports,
    batches,
    literature,
    notes,
    openai,
    embeddings,
    mcp,
)
