"""Errors in OpenAI's form: `{"error": {"message", "type", "param", "code"}}`."""

from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

from service.http.problems import Problem, Reportable, problem_of

__all__ = ["ERRORS", "error_json", "error_response"]


class Error(BaseModel):
    """What went wrong; `param` names the part of the request that is wrong, where one is."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorReply(BaseModel):
    """An error as OpenAI's clients read it."""

    error: Error


ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorReply, "description": "The request can't be served as it is."},
    "5XX": {"model": ErrorReply, "description": "The service or a model failed."},
}


def error_response(request: Request, error: Reportable) -> Response:
    """An error as a response."""
    problem, headers = problem_of(request, error)
    status = 400 if isinstance(error, RequestValidationError) else problem.status
    return Response(_as_json(problem), status_code=status, headers=dict(headers), media_type="application/json")


def error_json(request: Request, error: Reportable) -> str:
    """An error as JSON text."""
    problem, _ = problem_of(request, error)
    return _as_json(problem)


def _as_json(problem: Problem) -> str:
    where = problem.errors[0].where.removeprefix("body.") if problem.errors else None
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
    kind = kinds.get(problem.status, "invalid_request_error" if problem.status < 500 else "server_error")
    code = problem.type.rpartition(":")[2].replace("-", "_")
    return ErrorReply(error=Error(message=problem.detail, type=kind, param=where, code=code)).model_dump_json()
