"""The app: routes, errors and what they share, put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from paperscope import __version__
from paperscope.settings import Settings
from service.http.access import Service, install_service
from service.http.libraries import Libraries
from service.http.methods import Methods
from service.http.problems import PROBLEMS, install_problems
from service.http.routes import ROUTERS
from service.keys import Keys

__all__ = ["create_app"]

_ABOUT = """Ask your papers a question, get an answer that you can check.

Add papers (`POST /v1/papers` gives a job to follow), ask (`POST /v1/query`, or any OpenAI client by
`POST /v1/chat/completions`), look at what an answer rests on: tables, crops, and pages with the cited boxes drawn in.
Errors are problem documents (RFC 9457). Without a language model, Paperscope reads sentences and tables itself, and
says so in each answer.
"""


def create_app(settings: Settings) -> FastAPI:
    """The service over the settings' library, or over those of its API keys where its key file is there.

    Raises SettingsError where the key file can't be read.
    """
    keys = Keys.open(settings.service.keys)
    service = Service(settings=settings, libraries=Libraries(settings), keys=keys, keyed=keys.required)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            service.libraries.close()

    # The interactive pages would fetch their scripts from a host that nobody configured.
    app = FastAPI(
        title="Paperscope",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
    )
    install_service(app, service)
    install_problems(app)
    app.add_middleware(Methods)
    for router in ROUTERS:
        app.include_router(router)
    return app
