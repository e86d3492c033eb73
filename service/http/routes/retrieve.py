"""`POST /v1/retrieve`: the context that an answer would rest on."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Request, Response
from pydantic import Field

from paperscope.codec import to_json
from paperscope.types import Context
from query import render_context
from service.http.asking import Asked, AskerOf
from service.http.examples import CONTEXT, CONTEXT_CSV, QUESTION
from service.http.routes.asked import QuestionBody

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["questions"])

_CSV = "text/csv"


class RetrieveBody(QuestionBody):
    """A question and what it may be answered from."""

    format: Literal["json", "csv"] | None = Field(
        default=None, description="the form of the context; left out, the Accept header decides"
    )


@router.post(
    "/retrieve",
    summary="Retrieve the context of a question",
    response_model=Context,
    responses={
        200: {
            "description": "The context: entities, relations, sources and images, each with its places on paper.",
            "content": {"application/json": {"example": CONTEXT}, _CSV: {"example": CONTEXT_CSV}},
        }
    },
)
async def retrieve(
    request: Request,
    body: Annotated[RetrieveBody, Body(openapi_examples={"a table": {"value": QUESTION}})],
    asker: AskerOf,
) -> Response:
    """What an answer would rest on, without answering, as JSON or as sections of CSV (`Accept: text/csv`)."""
    context = await asker.retrieve(Asked(question=body.question, filters=body.filters))
    form = body.format or ("csv" if _CSV in request.headers.get("accept", "") else "json")
    if form == "csv":
        return Response(render_context(context), media_type=_CSV)
    return Response(to_json(context), media_type="application/json")
