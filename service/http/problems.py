"""Errors as responses: problem documents (RFC 9457), and OpenAI's form under OpenAI's paths.

In a problem document, `type` names the kind (`urn:paperscope:problem:unknown-paper`), `title` is its readable form,
`status` the HTTP status, `detail` says what happened and what helps, and `instance` is the requested path. For an
invalid body or parameter, `errors` says where and why; it never repeats what was sent, which may be a secret.
"""

import re
from collections.abc import Mapping
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
    "error_text",
    "install_error_handlers",
]

MEDIA_TYPE = "application/problem+json"
_RETRY_SECONDS = 5
_OPENAI_PATHS = ("/v1/models", "/v1/chat/completions", "/v1/embeddings")
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}

# The class of an error that comes first in its MRO counts.
_STATUSES: Mapping[type[PaperscopeError], int] = {
    errors.InputError: 400,
    errors.PaperFileError: 422,
    errors.QuestionFileError: 422,
    errors.SettingsError: 500,
    errors.NotFoundError: 404,
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


Reportable = PaperscopeError | HTTPException | RequestValidationError


class Invalid(BaseModel):
    """A part of a request that is invalid: where it is, and why."""

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
    def of(
        cls, kind: str, *, status: int, detail: str, instance: str = "", errors: list[Invalid] | None = None
    ) -> "Problem":
        """Return the problem of a kind; `instance` is "" if the request's path is not known."""
        title = kind.replace("-", " ").capitalize()
        urn = f"urn:paperscope:problem:{kind}"
        return cls(type=urn, title=title, status=status, detail=detail, instance=instance, errors=errors)

    @property
    def text(self) -> str:
        """The document as JSON."""
        return self.model_dump_json(exclude_none=True)


class ProblemError(HTTPException):
    """An error of the HTTP interface itself, reported as a problem of this kind."""

    def __init__(self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.kind = kind


class Error(BaseModel):
    """What went wrong; `param` names the invalid part of the request, if any."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorReply(BaseModel):
    """An error in OpenAI's form."""

    error: Error


PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "description": "The request can't be served as it is."},
    "5XX": {"model": Problem, "description": "The service or a model failed."},
}
OPENAI_ERRORS = {status: {**response, "model": ErrorReply} for status, response in PROBLEMS.items()}


def document_problems(document: dict[str, Any]) -> None:
    """Set the media type of problems in an OpenAPI document: FastAPI gives them that of the route."""
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    for operations in document["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                if any(content.get("schema") == schema for content in response.get("content", {}).values()):
                    response["content"] = {MEDIA_TYPE: {"schema": schema}}


def error_text(request: Request, error: Reportable) -> str:
    """Return an error as JSON, in the form that the clients of the request's path read."""
    problem, _ = _problem(request, error)
    return _openai_text(problem) if _is_openai(request) else problem.text


def error_response(request: Request, error: Reportable) -> Response:
    """Return an error as a response, in the form that the clients of the request's path read."""
    problem, headers = _problem(request, error)
    if not _is_openai(request):
        return Response(problem.text, status_code=problem.status, headers=headers, media_type=MEDIA_TYPE)
    status = 400 if isinstance(error, RequestValidationError) else problem.status
    return Response(_openai_text(problem), status_code=status, headers=headers, media_type="application/json")


def install_error_handlers(app: FastAPI) -> None:
    """Turn every error that leaves a route into a response."""

    @app.exception_handler(PaperscopeError)
    @app.exception_handler(HTTPException)
    @app.exception_handler(RequestValidationError)
    async def known(request: Request, error: Reportable) -> Response:
        return error_response(request, error)

    @app.exception_handler(Exception)
    async def unknown(request: Request, _error: Exception) -> Response:
        detail = "An unexpected error occurred; the service's log has the details under this response's X-Request-ID."
        # uvicorn closes the connection after such an error, so the client must not reuse it.
        headers = {"Connection": "close"}
        return error_response(request, ProblemError(500, "internal-error", detail, headers=headers))


def _problem(request: Request, error: Reportable) -> tuple[Problem, dict[str, str]]:
    """Return the problem document of an error, and the headers of its response; notes the problem for log and
    metrics."""
    headers: dict[str, str] = {}
    invalid = None
    if isinstance(error, RequestValidationError):
        status, kind = 422, "invalid-request"
        invalid = [Invalid(where=".".join(map(str, one["loc"])), why=one["msg"]) for one in error.errors()]
        detail = "; ".join(f"{one.where}: {one.why}" for one in invalid)
    elif isinstance(error, HTTPException):
        status, detail, headers = error.status_code, str(error.detail), dict(error.headers or {})
        kind = error.kind if isinstance(error, ProblemError) else _slug(HTTPStatus(status).phrase)
    else:
        status = next(_STATUSES[ancestor] for ancestor in type(error).__mro__ if ancestor in _STATUSES)
        kind, detail = _kind(type(error)), error.public
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            wait = error.retry_after if isinstance(error, ModelRateLimitError) else None
            headers["Retry-After"] = str(max(1, round(wait or _RETRY_SECONDS)))
        # Only for the log: the caller may not be the operator of the service.
        request.state.where = error.where
    request.state.problem = kind
    return Problem.of(kind, status=status, detail=detail, instance=request.url.path, errors=invalid), headers


def _kind(error: type[PaperscopeError]) -> str:
    """UnknownPaperError is an unknown-paper."""
    return _slug(re.sub(r"(?<!^)(?=[A-Z])", "-", error.__name__.strip("_").removesuffix("Error")))


def _slug(text: str) -> str:
    return text.lower().replace(" ", "-").replace("'", "")


def _is_openai(request: Request) -> bool:
    path = request.scope["path"]
    return any(path == prefix or path.startswith(f"{prefix}/") for prefix in _OPENAI_PATHS)


def _openai_text(problem: Problem) -> str:
    param = problem.errors[0].where.removeprefix("body.") if problem.errors else None
    kind = _OPENAI_TYPES.get(problem.status, "invalid_request_error" if problem.status < 500 else "server_error")
    code = problem.type.rpartition(":")[2].replace("-", "_")
    return ErrorReply(error=Error(message=problem.detail, type=kind, param=param, code=code)).model_dump_json()
