"""Errors as responses: problem documents (RFC 9457), and OpenAI's form for its clients."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from paperscope_core import errors
from paperscope_core.errors import ModelRateLimitError, PaperscopeError

__all__ = [
    "MEDIA_TYPE",
    "OPENAI_ERRORS",
    "PROBLEMS",
    "Problem",
    "ProblemError",
    "Reportable",
    "document_problems",
    "error_response",
    "install_error_handlers",
    "openai_error_json",
    "openai_error_response",
    "problem_of",
    "problem_response",
]


MEDIA_TYPE = "application/problem+json"
_RETRY_SECONDS = 5

# The nearest class in an error's line of ancestors counts.
_STATUSES: Mapping[type[PaperscopeError], int] = {
    errors.InputError: 400,
    errors.PaperFileError: 422,
    errors.QuestionFileError: 422,
    errors.SettingsError: 500,
    errors.UnknownPaperError: 404,
    errors.UnknownEntityError: 404,
    errors.UnknownJobError: 404,
    errors.StoreError: 503,
    errors.StoreReadOnlyError: 403,
    errors.StoreFullError: 507,
    errors.KeyFileError: 503,
    errors.OutputError: 507,
    errors.BudgetError: 402,
    errors.ModelError: 502,
    errors.ModelUnavailableError: 503,
    errors.ModelRateLimitError: 503,
    PaperscopeError: 500,
}


class Invalid(BaseModel):
    """One thing that is wrong about a request: where it stands, and why."""

    where: str
    why: str


class Problem(BaseModel):
    """A problem document."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[Invalid] | None = None

    @classmethod
    def of(cls, kind: str, *, status: int, detail: str, instance: str = "") -> "Problem":
        """The problem of this kind; `instance` is "" where no path could be read."""
        title = kind.replace("-", " ").capitalize()
        return cls(type=f"urn:paperscope:problem:{kind}", title=title, status=status, detail=detail, instance=instance)

    @property
    def text(self) -> str:
        """It as it is sent."""
        return self.model_dump_json(exclude_none=True)


class ProblemError(HTTPException):
    """An error of the HTTP surface itself; `kind` makes its type, and `detail` says what helps."""

    def __init__(self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.kind = kind


PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "description": "The request can't be served as it is."},
    "5XX": {"model": Problem, "description": "The service or a model failed."},
}


def document_problems(document: dict[str, Any]) -> None:
    """Let an OpenAPI document say that problems come as such: FastAPI gives them the media type of the route."""
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    for operations in document["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                if any(content.get("schema") == schema for content in response.get("content", {}).values()):
                    response["content"] = {MEDIA_TYPE: {"schema": schema}}


Reportable = PaperscopeError | HTTPException | RequestValidationError


def problem_of(request: Request, error: Reportable) -> tuple[Problem, Mapping[str, str]]:
    """The problem document of an error, and the headers that go with it."""
    if isinstance(error, RequestValidationError):
        found = [Invalid(where=".".join(map(str, one["loc"])), why=one["msg"]) for one in error.errors()]
        detail = "; ".join(f"{one.where}: {one.why}" for one in found)
        return _problem(request, 422, "invalid-request", detail, invalid=found), {}
    if isinstance(error, HTTPException):
        kind = error.kind if isinstance(error, ProblemError) else _slug(HTTPStatus(error.status_code).phrase)
        return _problem(request, error.status_code, kind, str(error.detail)), error.headers or {}
    status = next(_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES)
    headers: dict[str, str] = {}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        wait = error.retry_after if isinstance(error, ModelRateLimitError) else None
        headers["Retry-After"] = str(max(1, round(wait or _RETRY_SECONDS)))
    # Whoever calls need not be whoever runs the service: where it failed is for the log only.
    request.state.where = error.where
    return _problem(request, status, _kind(type(error)), error.public), headers


def _problem(
    request: Request, status: int, kind: str, detail: str, *, invalid: Sequence[Invalid] | None = None
) -> Problem:
    # For the log and the metrics.
    request.state.problem = kind
    problem = Problem.of(kind, status=status, detail=detail, instance=request.url.path)
    return problem.model_copy(update={"errors": list(invalid)}) if invalid else problem


def problem_response(request: Request, error: Reportable) -> Response:
    """The problem document of an error, as a response."""
    problem, headers = problem_of(request, error)
    return Response(problem.text, status_code=problem.status, headers=dict(headers), media_type=MEDIA_TYPE)


def _kind(error: type[PaperscopeError]) -> str:
    """UnknownPaperError is an unknown-paper."""
    return _slug(re.sub(r"(?<!^)(?=[A-Z])", "-", error.__name__.strip("_").removesuffix("Error")))


def _slug(text: str) -> str:
    return text.lower().replace(" ", "-").replace("'", "")


class Error(BaseModel):
    """What went wrong; `param` names the part of the request that is wrong, where one is."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorReply(BaseModel):
    """An error as OpenAI's clients read it."""

    error: Error


OPENAI_ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorReply, "description": "The request can't be served as it is."},
    "5XX": {"model": ErrorReply, "description": "The service or a model failed."},
}


def openai_error_response(request: Request, error: Reportable) -> Response:
    """An error as a response."""
    problem, headers = problem_of(request, error)
    status = 400 if isinstance(error, RequestValidationError) else problem.status
    return Response(_openai_json(problem), status_code=status, headers=dict(headers), media_type="application/json")


def openai_error_json(request: Request, error: Reportable) -> str:
    """An error as JSON text."""
    problem, _ = problem_of(request, error)
    return _openai_json(problem)


def _openai_json(problem: Problem) -> str:
    where = problem.errors[0].where.removeprefix("body.") if problem.errors else None
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
    kind = kinds.get(problem.status, "invalid_request_error" if problem.status < 500 else "server_error")
    code = problem.type.rpartition(":")[2].replace("-", "_")
    return ErrorReply(error=Error(message=problem.detail, type=kind, param=where, code=code)).model_dump_json()


_OPENAI_PATHS = ("/v1/models", "/v1/chat/completions")


def error_response(request: Request, error: Reportable) -> Response:
    """The response that an error becomes."""
    path = request.scope["path"]
    theirs = any(path == one or path.startswith(f"{one}/") for one in _OPENAI_PATHS)
    return openai_error_response(request, error) if theirs else problem_response(request, error)


def install_error_handlers(app: FastAPI) -> None:
    """Let every error that leaves a route become a response."""

    @app.exception_handler(PaperscopeError)
    @app.exception_handler(HTTPException)
    @app.exception_handler(RequestValidationError)
    async def known(request: Request, error: Reportable) -> Response:
        return error_response(request, error)

    @app.exception_handler(Exception)
    async def unknown(request: Request, _error: Exception) -> Response:
        detail = "Something went wrong inside the service; its log has the details, under this response's X-Request-ID."
        # The server ends the connection after such an error; who knows that sends nothing more over it.
        return error_response(request, ProblemError(500, "internal-error", detail, headers={"Connection": "close"}))
