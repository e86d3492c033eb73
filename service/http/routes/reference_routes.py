"""The page at `/docs`: the operations of the API, from its OpenAPI document.

It needs no script and no style sheet, so that the service's content policy stays strict.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from paperscope_core.text.escaping import html

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def api_reference(request: Request) -> HTMLResponse:
    """List the operations; open to everybody, like the OpenAPI document that it is made from."""
    document = request.app.openapi()
    info = document["info"]
    page = html(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} {version}</title></head><body>'
        '<h1>{title} {version}</h1><p>{description}</p><p>For programs: <a href="/openapi.json">openapi.json</a></p>'
        "<dl>{operations}</dl></body></html>",
        title=info["title"],
        version=info["version"],
        description=info["description"],
        operations=Markup().join(_operations(document["paths"])),
    )
    return HTMLResponse(page)


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
