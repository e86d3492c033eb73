"""The ASGI app: routes, middleware and shared state."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from graph_store.service_state import ServiceState
from paperscope import __version__
from paperscope_core.settings import Settings
from service.http.auth import Service
from service.http.background import Background
from service.http.forwarded import ForwardedMiddleware
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
from service.jobs import JobRunner, Supervisor
from service.keys import KeyStore
from service.libraries import Libraries

__all__ = ["MAX_WAITING_QUESTIONS", "Shared", "create_app"]

MAX_WAITING_QUESTIONS = 128
"""How many more questions may wait; others are rejected (429), because most callers give up before their turn."""

# A page is drawn in a child process, which takes a CPU core.
_CONCURRENT_IMAGES = 2
_MAX_WAITING_IMAGES = 64
# A paper is read in a child process, too.
_CONCURRENT_LOOKUPS = 4
# Python runs one thread at a time: more of one caller would end no sooner, and delay others more.
_LOOKUPS_OF_ONE = 2
_MAX_WAITING_LOOKUPS = 512
_CONCURRENT_ESTIMATES = 1
_MAX_WAITING_ESTIMATES = 16
_CLOSE_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """What the processes of one service share.

    Attributes:
        folder: Where the file of their common state is.
        jobs: Passes jobs to the process that does them.
        keyed: Whether the service requires keys, also if their file is gone.
    """

    processes: int
    folder: Path
    jobs: JobRunner
    keyed: bool


_DESCRIPTION = """Ask your papers a question, get an answer that you can check.

Add papers (`POST /v1/papers` returns a job to follow), ask (`POST /v1/query`, or any OpenAI client through
`POST /v1/chat/completions`), and look at what an answer is based on: tables, crops, and pages with the cited boxes.
Errors are problem documents (RFC 9457). Without a language model, Paperscope reads sentences and tables itself, and
says so in each answer.
"""


def create_app(
    settings: Settings,
    *,
    shared: Shared | None = None,
    on_started: Callable[[Shutdown], None] = lambda _shutdown: None,
) -> FastAPI:
    """Return the app over the settings' library, or over the libraries of its API keys if the key file exists.

    Args:
        shared: What it shares with other processes of the service, if it is not alone.
        on_started: Called on the event loop when it is ready for requests.

    Raises:
        KeyFileError: The key file can't be read.
    """
    service = _build_service(settings, shared)

    state = service.state

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        service.jobs.start()
        # Jobs and requests get their time to finish simultaneously.
        stopping = asyncio.create_task(_stop_jobs(service))
        on_started(service.shutdown)
        try:
            yield
        finally:
            service.shutdown.begun.set()
            await service.shutdown.drain()
            await asyncio.gather(stopping, service.background.close())
            await asyncio.gather(
                asyncio.to_thread(service.libraries.close, timeout=_CLOSE_TIMEOUT_SECONDS),
                asyncio.to_thread(state.close),
            )

    # FastAPI's interactive pages load scripts from a CDN, and its telemetry sends traces where the environment says.
    app = _App(
        title="Paperscope",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
        # An answer that is exported has the schema of the response that it comes from.
        separate_input_output_schemas=False,
        openapi_url=None,
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
    await service.jobs.stop()


def _build_service(settings: Settings, shared: Shared | None) -> Service:
    limits = settings.service
    keys = KeyStore.open(limits.keys, existed=shared is not None and shared.keyed)

    library_folders = partial(keys.libraries, default=settings.library)
    metrics = Metrics(folders=library_folders)
    state = ServiceState(settings.library, folder=shared.folder if shared else None)
    jobs = shared.jobs if shared else Supervisor(settings, folders=library_folders, on_usage=metrics.count_usage)
    background = Background(state)
    # The work of all processes together is limited.
    share = partial(_share, processes=shared.processes if shared else 1)
    return Service(
        settings=settings,
        libraries=Libraries(settings, on_usage=metrics.count_usage),
        keys=keys,
        state=state,
        sessions=Sessions(state),
        jobs=jobs,
        questions=FairQueue(
            concurrency=share(limits.questions_at_once),
            max_waiting=share(MAX_WAITING_QUESTIONS),
            on_change=metrics.set_questions,
        ),
        background=background,
        images=FairQueue(
            concurrency=share(_CONCURRENT_IMAGES),
            max_waiting=share(_MAX_WAITING_IMAGES),
            work="pictures are being drawn",
        ),
        estimates=FairQueue(
            concurrency=_CONCURRENT_ESTIMATES, max_waiting=_MAX_WAITING_ESTIMATES, work="papers are being estimated"
        ),
        lookups=FairQueue(
            concurrency=share(_CONCURRENT_LOOKUPS),
            of_one=_LOOKUPS_OF_ONE,
            max_waiting=share(_MAX_WAITING_LOOKUPS),
            work="requests are running",
        ),
        rate_limiter=RateLimiter(state, per_minute=limits.requests_per_minute),
        shutdown=Shutdown(
            grace_seconds=limits.shutdown_seconds, alone=shared is None, background=lambda: background.tasks
        ),
        library_folders=library_folders,
        metrics=metrics,
    )


def _share(limit: int, *, processes: int) -> int:
    """Return the part of a limit that one of so many processes has; none has less than 1 of a limit above 0."""
    return math.ceil(limit / processes)


class _App(FastAPI):
    """An app with middleware around Starlette's own error handling, so that it applies to every response."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, which is made once."""
        if self.openapi_schema is None:
            document_problems(super().openapi())
        return super().openapi()

    def build_middleware_stack(self) -> ASGIApp:
        """Return the middleware, from the inside out."""
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
        app = DrainingMiddleware(SecurityHeadersMiddleware(app, shutdown=service.shutdown))
        app = ObservabilityMiddleware(app, service=service)
        own = service.settings.service
        return ForwardedMiddleware(app, proxies=own.proxies, root_path=own.root_path)
