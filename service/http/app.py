"""The ASGI app: routes, middleware and what they share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from paperscope import __version__
from paperscope_core.settings import Settings
from service.http.auth import Service, install_service
from service.http.limits import FairQueue, RateLimiter
from service.http.metrics import Metrics, ObservingMiddleware, RequestRecord, log_request
from service.http.middleware import (
    MAX_BODY_BYTES,
    AdmissionMiddleware,
    AuthMiddleware,
    BodySizeMiddleware,
    DrainingMiddleware,
    MethodsMiddleware,
    SecurityHeadersMiddleware,
)
from service.http.problems import PROBLEMS, document_problems, install_error_handlers
from service.http.routes import ROUTERS
from service.http.shutdown import Shutdown
from service.jobs import Supervisor
from service.keys import KeyStore
from service.libraries import Libraries, usage_reporter
from service.tracing import open_tracing

__all__ = ["create_app"]


# A page is drawn in a process of its own.
_PICTURES_AT_ONCE = 2
_PICTURES_WAITING = 64
_CLOSE_SECONDS = 5.0

_ABOUT = """Ask your papers a question, get an answer that you can check.

Add papers (`POST /v1/papers` gives a job to follow), ask (`POST /v1/query`, or any OpenAI client by
`POST /v1/chat/completions`), look at what an answer rests on: tables, crops, and pages with the cited boxes drawn in.
Errors are problem documents (RFC 9457). Without a language model, Paperscope reads sentences and tables itself, and
says so in each answer.
"""


def create_app(settings: Settings) -> FastAPI:
    """The service over the settings' library, or over those of its API keys where its key file is there.

    Raises KeyFileError where that can't be read, and SettingsError where traces can't be sent.
    """
    service = _service(settings)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        service.workers.start()
        # Jobs get their time while requests have theirs.
        ending = asyncio.create_task(_end_work(service))
        try:
            yield
        finally:
            service.ending.begun.set()
            await ending
            await asyncio.gather(
                asyncio.to_thread(service.libraries.close, within=_CLOSE_SECONDS),
                asyncio.to_thread(service.tracing.close, within=_CLOSE_SECONDS),
            )

    # The interactive pages would fetch their scripts from a host that nobody configured, and FastAPI's own telemetry
    # would send traces where the environment says.
    app = _Guarded(
        title="Paperscope",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        max_body_size=MAX_BODY_BYTES,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    install_service(app, service)
    install_error_handlers(app)
    app.add_middleware(MethodsMiddleware)
    app.add_middleware(AuthMiddleware, service=service)
    for router in ROUTERS:
        app.include_router(router)
    return app


async def _end_work(service: Service) -> None:
    """Stop the worker when the service is asked to end."""
    await service.ending.begun.wait()
    await service.workers.stop()


def _service(settings: Settings) -> Service:
    limits = settings.service
    keys = KeyStore.open(limits.keys)

    def library_folders() -> set[Path]:
        return {key.library for key in keys.all()} if keys.required else {settings.library}

    gate = FairQueue(at_once=limits.questions_at_once, waiting=limits.questions_waiting)
    metrics = Metrics(gate=gate, folders=library_folders)
    return Service(
        settings=settings,
        libraries=Libraries(settings, on_call=usage_reporter(metrics.spend)),
        keys=keys,
        workers=Supervisor(settings, known=library_folders, on_spent=metrics.spend),
        gate=gate,
        pictures=FairQueue(at_once=_PICTURES_AT_ONCE, waiting=_PICTURES_WAITING, work="pictures are being drawn"),
        rates=RateLimiter(per_minute=limits.requests_per_minute),
        ending=Shutdown(),
        library_folders=library_folders,
        metrics=metrics,
        tracing=open_tracing(limits.otlp_endpoint),
    )


class _Guarded(FastAPI):
    """An app whose every response, also that to an error which nobody foresaw, passes what stands outermost."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        document = super().openapi()
        document_problems(document)
        return document

    def build_middleware_stack(self) -> ASGIApp:
        """What stands round the routes, from the inside out."""
        service: Service = self.state.service

        def observe(seen: RequestRecord) -> None:
            service.metrics.observe(seen)
            log_request(seen)

        app: ASGIApp = SecurityHeadersMiddleware(
            AdmissionMiddleware(BodySizeMiddleware(super().build_middleware_stack()))
        )
        if service.settings.service.origins:
            app = CORSMiddleware(
                app,
                allow_origins=service.settings.service.origins,
                allow_methods=("GET", "POST", "DELETE"),
                allow_headers=("Authorization", "Content-Type", "X-API-Key", "X-Paper-Password", "X-Request-ID"),
                expose_headers=("Location", "Retry-After", "X-Request-ID"),
            )
        return ObservingMiddleware(DrainingMiddleware(app), observe=observe, tracing=service.tracing)
