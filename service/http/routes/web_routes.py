"""The web page: its files, under `/` and `/web/`.

They are open to everybody, since they hold no data: the page signs in where a key is needed.
"""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from service.http.problems import ProblemError
from service.http.responses import etag_matches
from service.http.web_files import INDEX, content_policy, web_file

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_IfNoneMatch = Annotated[str, Header()]
_AcceptEncoding = Annotated[str, Header()]


@router.get("/")
def show_page(if_none_match: _IfNoneMatch = "", accept_encoding: _AcceptEncoding = "") -> Response:
    """Return the page."""
    return show_file(INDEX, if_none_match, accept_encoding)


@router.get("/web/{name:path}")
def show_file(name: str, if_none_match: _IfNoneMatch = "", accept_encoding: _AcceptEncoding = "") -> Response:
    """Return a file of the page: a module, a style sheet, a library."""
    file = web_file(name)
    if file is None:
        raise ProblemError(404, "not-found", "The web page has no such file.")
    # A coding with a quality (`gzip;q=0`) counts as none, which is always right.
    accepted = {one.strip() for one in accept_encoding.lower().split(",")}
    coding = next((one for one in file.compressed if one in accepted), None)
    etag = f"{file.etag}-{coding}" if coding else file.etag
    headers = {
        "ETag": f'"{etag}"',
        "Cache-Control": "public, max-age=31536000, immutable" if file.immutable else "no-cache",
        "Vary": "Accept-Encoding",
        # Of every file, because a worker has the policy of its own file, not that of the page.
        "Content-Security-Policy": content_policy(),
    }
    if etag_matches(etag, if_none_match=if_none_match):
        return Response(status_code=304, headers=headers)
    if coding:
        headers["Content-Encoding"] = coding
    content = file.compressed[coding] if coding else file.plain
    return Response(content, headers=headers, media_type=file.media_type)
