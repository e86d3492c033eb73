"""The OpenAPI document, which is open to everybody, and so is made once."""

import json

from fastapi import APIRouter, Request
from fastapi.responses import Response

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/openapi.json")
async def openapi_document(request: Request) -> Response:
    """Return the OpenAPI document."""
    state = request.app.state
    if not hasattr(state, "openapi_document"):
        state.openapi_document = json.dumps(request.app.openapi(), ensure_ascii=False).encode()
    return Response(state.openapi_document, media_type="application/json")
