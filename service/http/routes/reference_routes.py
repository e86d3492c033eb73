"""The OpenAPI document, and the page at `/docs`: the operations of the API, from that document.

The page needs no script and no style sheet, so that the service's content policy stays strict. Both are open to
everybody, so they are made once.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from paperscope_core.text.escaping import html

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/openapi.json")
async def openapi_document(request: Request) -> Response:
    """Return the OpenAPI document."""
    return Response(_made_once(request.app)[0], media_type="application/json")


@router.get("/docs")
async def api_reference(request: Request) -> HTMLResponse:
    """List the operations."""
    return HTMLResponse(_made_once(request.app)[1])


def _made_once(app: FastAPI) -> tuple[bytes, str]:
    """Return the document as JSON and as a page."""
    if not hasattr(app.state, "reference"):
        document = app.openapi()
        app.state.reference = json.dumps(document, ensure_ascii=False).encode(), _page(document)
    made: tuple[bytes, str] = app.state.reference
    return made


def _page(document: Mapping[str, Any]) -> str:
    info = document["info"]
    return html(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} {version}</title></head><body>'
        '<h1>{title} {version}</h1><p>{description}</p><p>For programs: <a href="openapi.json">openapi.json</a></p>'
        "<dl>{operations}</dl></body></html>",
        title=info["title"],
        version=info["version"],
        description=info["description"],
        operations=Markup().join(_operations(document["paths"])),
    )


def _operations(paths: Mapping[str, Mapping[str, Any]]) -> Iterator[Markup]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            yield html(
                "<dt><code>{method} {path}</code></dt><dd><strong>{summary}</strong><p>{description}</p></dd>",
                method=method.upper(),
                path=path,
                summary=operation["summary"],
                description=operation.get("description", ""),
            )
