"""Images: crops of tables, figures and equations, and whole pages with boxes drawn on them."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response

from paperscope import __version__
from paperscope_core.errors import PaperFileError, PaperLockedError, UnknownElementError
from paperscope_core.types import Box, Paper, content_hash, places_of
from service.http.answering import cancel_on_disconnect
from service.http.auth import CallerOf, LibraryOf, ServiceOf
from service.http.parameters import ELEMENT_PATTERN, EntryOf
from service.http.problems import ProblemError
from service.http.responses import document_content, etag_matches, image_response

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["pictures"])

_EXAMPLE = "eb7da34078b94ef98ede96ad254d6966a1200f3e3691c1f48cc5514ddedf9697"
_ElementName = Annotated[str, Query(pattern=ELEMENT_PATTERN)]
_Box = Annotated[str, Query(pattern=r"^\d{1,5}(\.\d{1,3})?(,\d{1,5}(\.\d{1,3})?){3}$")]
_Password = Annotated[
    str,
    Header(alias="X-Paper-Password", max_length=1000, description="Opens an encrypted file; it is not stored."),
]
_IfNoneMatch = Annotated[str, Header(alias="If-None-Match", description="ETags of what the caller has.")]


@router.get(
    "/crops/{crop}",
    summary="An element's image",
    response_class=Response,
    responses=document_content("image/png"),
)
def show_crop(
    library: LibraryOf,
    crop: Annotated[
        str, Path(pattern=r"^[0-9a-f]{64}$", description="A crop's name: its SHA-256.", examples=[_EXAMPLE])
    ],
    if_none_match: _IfNoneMatch = "",
) -> Response:
    """Return the image of the table, figure or equation with this `crop`, as PNG."""
    image = library.crop(crop)
    known = etag_matches(crop, if_none_match=if_none_match)
    return image_response(None if known else image, etag=crop, immutable=True)


@router.get(
    "/papers/{paper}/pages/{page}.png",
    summary="A page with boxes drawn on it",
    response_class=Response,
    responses=document_content("image/png"),
)
async def show_page(
    request: Request,
    service: ServiceOf,
    caller: CallerOf,
    library: LibraryOf,
    entry: EntryOf,
    *,
    page: Annotated[int, Path(ge=1, le=10**6, description="Its number, from 1.", examples=[3])],
    dpi: Annotated[int, Query(ge=18, le=600, description="Its resolution; a very large page gets less.")] = 110,
    element: Annotated[
        tuple[_ElementName, ...], Query(max_length=100, description="Elements to mark: ids without the paper's.")
    ] = (),
    box: Annotated[
        tuple[_Box, ...], Query(max_length=100, description="Boxes to mark: x0,y0,x1,y1 in points from the top left.")
    ] = (),
    password: _Password = "",
    if_none_match: _IfNoneMatch = "",
) -> Response:
    """Return a page of a paper as PNG, on which elements and boxes are marked, for example what an answer cites."""
    paper = await asyncio.to_thread(library.paper, entry.id)
    if page not in {one.number for one in paper.pages}:
        raise ProblemError(404, "unknown-page", f"paper {paper.id!r} has no page {page}; it has {len(paper.pages)}")
    ids = [_element_on_page(paper, name, page) for name in element]
    boxes = [Box(*map(float, one.split(","))) for one in box]
    content = (__version__, entry.revision, paper.sha256, page, dpi, ids, boxes)
    etag = content_hash(repr(content).encode())
    if etag_matches(etag, if_none_match=if_none_match):
        return image_response(None, etag=etag, immutable=False)

    async def draw() -> bytes:
        async with service.images.slot(caller.name):
            return await library.page_picture_async(
                paper.id, page, dpi=dpi, marked=[*ids, *boxes], password=_decode(password) or None
            )

    try:
        image = await cancel_on_disconnect(request, draw())
    except PaperLockedError as error:
        remedy = "send its password with this request, as X-Paper-Password; it is not stored"
        raise ProblemError(403, "paper-locked", f"{paper.file!r} is encrypted: {remedy}.") from error
    except PaperFileError as error:
        raise ProblemError(404, "no-picture", error.public) from error
    return image_response(image, etag=etag, immutable=False)


def _decode(header: str) -> str:
    """Return a header's text: most clients send UTF-8, which Starlette decodes as Latin-1."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


def _element_on_page(paper: Paper, name: str, page: int) -> str:
    """Return the id of an element. Raises ProblemError if it is not in this paper, or not on this page."""
    found = next((one for one in paper.elements if one.id == f"{paper.id}/{name}"), None)
    if found is None:
        raise UnknownElementError(f"{paper.id}/{name}")
    pages = sorted({place.page for place in places_of(found)})
    if page not in pages:
        where = " and ".join(map(str, pages))
        raise ProblemError(404, "other-page", f"{name!r} is not on page {page} of paper {paper.id!r}, but on {where}")
    return found.id
