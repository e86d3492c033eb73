"""Responses in the forms that the routes give: values as JSON, files to keep, pages to look at."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import quote

from fastapi import Response

from paperscope.codec import to_json

__all__ = [
    "file_reply",
    "is_known",
    "json_reply",
    "not_modified",
    "page_reply",
    "picture_reply",
    "saved_as",
    "shown_as",
    "such_as",
]

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)


def json_reply(value: object) -> Response:
    """A value, written once: the routes' response models only document it."""
    return Response(to_json(value), media_type="application/json")


def file_reply(text: bytes | str, *, name: str, media_type: str) -> Response:
    """A file that a browser saves under this name, and never shows as a page."""
    return Response(text, media_type=media_type, headers=saved_as(name))


def saved_as(name: str) -> dict[str, str]:
    """The headers of a file that a browser saves under this name, which may be a stranger's, and never shows."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
    return {"Content-Disposition": disposition}


def page_reply(title: str, fragment: str) -> Response:
    """A page of one fragment of HTML, under a title that is text; it runs nothing, and fetches nothing."""
    head = f'<meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>{escape(title)}</title>'
    page = f"<!doctype html>\n<html><head>{head}</head><body>{fragment}</body></html>\n"
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": _POLICY})


def picture_reply(picture: bytes, *, tag: str, lasting: bool) -> Response:
    """A PNG with its tag; a `lasting` one never changes under its address, another is asked for again each time."""
    return Response(picture, media_type="image/png", headers=_kept(tag, lasting=lasting))


def not_modified(tag: str, *, lasting: bool) -> Response:
    """What says that the caller has this picture already."""
    return Response(status_code=304, headers=_kept(tag, lasting=lasting))


def is_known(tag: str, *, known: str) -> bool:
    """Whether If-None-Match says that the caller has what this tag names."""
    return known.strip() == "*" or tag in re.findall(r'"([^"]*)"', known)


def _kept(tag: str, *, lasting: bool) -> dict[str, str]:
    keeping = "private, max-age=31536000, immutable" if lasting else "private, no-cache"
    return {"ETag": f'"{tag}"', "Cache-Control": keeping}


def shown_as(*media_types: str) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of a response that comes as one of these media types."""
    return {200: {"content": {kind: {"schema": {"type": "string"}} for kind in media_types}}}


def such_as(example: Mapping[str, object], *, or_as: str = "") -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of a JSON response: an example, and the media type that may come instead."""
    other = shown_as(or_as)[200]["content"] if or_as else {}
    return {200: {"content": {"application/json": {"example": example}, **other}}}
