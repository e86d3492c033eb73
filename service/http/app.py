"""The ASGI app: routes, middleware and shared state."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from paperscope import __version__
from paperscope_core.locations import Location
from paperscope_core.settings import Settings
from service.http.auth import Service
from service.http.background import Background
from service.http.limits import FairQueue, RateLimiter
from service.http.metrics import Metrics
from service.http.middleware import (
    AdmissionMiddleware,
    AuthMiddleware,
    BodySizeMiddleware,
    DrainingMiddleware,
    MethodMiddleware,
    ObservabilityMiddleware,
    SecurityHeadersMiddleware,
)
from service.http.problems import PROBLEMS, document_problems, install_error_handlers
from service.http.routes import ROUTERS
from service.http.sessions import Sessions
from service.http.shutdown import Shutdown
from service.jobs import Supervisor
from service.keys import KeyStore
from service.libraries import Libraries
from service.tracing import open_tracing

__all__ = ["create_app"]

# A page is drawn in a child process, which takes a CPU core.
_CONCURRENT_IMAGES = 2
_MAX_WAITING_IMAGES = 64
# A paper is read in a child process, too.
_CONCURRENT_ESTIMATES = 1
_MAX_WAITING_ESTIMATES = 16
_CLOSE_TIMEOUT_SECONDS = 5.0

_DESCRIPTION = """Ask your papers a question, get an answer that you can check.

Add papers (`POST /v1/papers` returns a job to follow), ask (`POST /v1/query`, or any OpenAI client through
`POST /v1/chat/completions`), and look at what an answer is based on: tables, crops, and pages with the cited boxes.
Errors are problem documents (RFC 9457). Without a language model, Paperscope reads sentences and tables itself, and
says so in each answer.
"""


def create_app(settings: Settings) -> FastAPI:
    """The app over the settings' library, or over the libraries of its API keys if the key file exists.

    Raises KeyFileError if the key file can't be read, and SettingsError if traces can't be exported.
    """
    service = _build_service(settings)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        service.supervisor.start()
        # Jobs and requests get their time to finish simultaneously.
        stopping = asyncio.create_task(_stop_jobs(service))
        try:
            yield
        finally:
            service.shutdown.begun.set()
            await asyncio.gather(stopping, service.background.close())
            await asyncio.gather(
                asyncio.to_thread(service.libraries.close, timeout=_CLOSE_TIMEOUT_SECONDS),
                asyncio.to_thread(service.tracing.close, timeout=_CLOSE_TIMEOUT_SECONDS),
            )

    # FastAPI's interactive pages load scripts from a CDN, and its telemetry sends traces where the environment says.
    app = _App(
        title="Paperscope",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.service = service
    install_error_handlers(app)
    app.add_middleware(MethodMiddleware)
    app.add_middleware(AuthMiddleware, service=service)
    for router in ROUTERS:
        app.include_router(router)
    return app


async def _stop_jobs(service: Service) -> None:
    await service.shutdown.begun.wait()
    await service.supervisor.stop()


def _build_service(settings: Settings) -> Service:
    limits = settings.service
    keys = KeyStore.open(limits.keys)

    def library_folders() -> set[Location]:
        return {key.library for key in keys.all()} if keys.required else {settings.library}

    questions = FairQueue(concurrency=limits.questions_at_once, max_waiting=limits.questions_waiting)
    metrics = Metrics(queue=questions, folders=library_folders)
    return Service(
        settings=settings,
        libraries=Libraries(settings, on_usage=metrics.count_usage),
        keys=keys,
        sessions=Sessions(),
        supervisor=Supervisor(settings, folders=library_folders, on_usage=metrics.count_usage),
        questions=questions,
        background=Background(),
        images=FairQueue(
            concurrency=_CONCURRENT_IMAGES, max_waiting=_MAX_WAITING_IMAGES, work="pictures are being drawn"
        ),
        estimates=FairQueue(
            concurrency=_CONCURRENT_ESTIMATES, max_waiting=_MAX_WAITING_ESTIMATES, work="papers are being estimated"
        ),
        rate_limiter=RateLimiter(per_minute=limits.requests_per_minute),
        shutdown=Shutdown(),
        library_folders=library_folders,
        metrics=metrics,
        tracing=open_tracing(limits.otlp_endpoint),
    )


class _App(FastAPI):
    """An app with middleware around Starlette's own error handling, so that it applies to every response."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        document = super().openapi()
        document_problems(document)
        return document

    def build_middleware_stack(self) -> ASGIApp:
        """The middleware, from the inside out."""
        service: Service = self.state.service
        app: ASGIApp = BodySizeMiddleware(super().build_middleware_stack())
        app = AdmissionMiddleware(app)
        if service.settings.service.origins:
            app = CORSMiddleware(
                app,
                allow_origins=service.settings.service.origins,
                allow_methods=("GET", "POST", "PATCH", "DELETE"),
                allow_headers=("Authorization", "Content-Type", "X-API-Key", "X-Paper-Password", "X-Request-ID"),
                expose_headers=("Location", "Retry-After", "X-Request-ID"),
            )
        app = DrainingMiddleware(SecurityHeadersMiddleware(app))
        return ObservabilityMiddleware(app, count=service.metrics.count_request, tracing=service.tracing)
