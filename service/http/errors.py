"""Errors on their way out: in OpenAI's form where OpenAI's clients call, as problem documents everywhere else."""

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from paperscope.errors import PaperscopeError
from service.http.chat import error_response
from service.http.problems import ProblemError, Reportable, problem_reply

__all__ = ["error_reply", "install_errors"]

_OPENAI = ("/v1/models", "/v1/chat/completions")


def error_reply(request: Request, error: Reportable) -> Response:
    """The response that an error becomes."""
    path = request.scope["path"]
    theirs = any(path == one or path.startswith(f"{one}/") for one in _OPENAI)
    return error_response(request, error) if theirs else problem_reply(request, error)


def install_errors(app: FastAPI) -> None:
    """Let every error that leaves a route become a response."""

    @app.exception_handler(PaperscopeError)
    @app.exception_handler(HTTPException)
    @app.exception_handler(RequestValidationError)
    async def known(request: Request, error: Reportable) -> Response:
        return error_reply(request, error)

    @app.exception_handler(Exception)
    async def unknown(request: Request, _error: Exception) -> Response:
        detail = "Something went wrong inside the service; its log has the details, under this response's X-Request-ID."
        # The server ends the connection after such an error; who knows that sends nothing more over it.
        return error_reply(request, ProblemError(500, "internal-error", detail, headers={"Connection": "close"}))
