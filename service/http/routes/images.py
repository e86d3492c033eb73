"""Images: crops of elements, and pages with boxes drawn on them."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response

from paperscope import __version__
from paperscope_core.errors import PaperFileError, PaperLockedError
from paperscope_core.types import Box, Paper, content_hash, places_of
from service.http.answering import cancel_on_disconnect
from service.http.auth import CallerOf, LibraryOf, ServiceOf
from service.http.parameters import ELEMENT_PATTERN, PaperOf, find_crop, unknown_element
from service.http.problems import ProblemError
from service.http.responses import document_content, etag_matches, image_response, not_modified

__all__ = ["router"]


router = APIRouter(prefix="/v1", tags=["pictures"])

_EXAMPLE = "eb7da34078b94ef98ede96ad254d6966a1200f3e3691c1f48cc5514ddedf9697"
_ElementName = Annotated[str, Query(pattern=ELEMENT_PATTERN)]
_Box = Annotated[str, Query(pattern=r"^\d{1,5}(\.\d{1,3})?(,\d{1,5}(\.\d{1,3})?){3}$")]
_Password = Annotated[
    str,
    Header(alias="X-Paper-Password", max_length=1000, description="Opens an encrypted file; the service keeps none."),
]
_Known = Annotated[str, Header(alias="If-None-Match", description="Tags of what the caller has already.")]


@router.get(
    "/crops/{crop}", summary="A picture of an element", response_class=Response, responses=document_content("image/png")
)
def show_crop(
    library: LibraryOf,
    crop: Annotated[
        str, Path(pattern=r"^[0-9a-f]{64}$", description="A crop's name: its SHA-256.", examples=[_EXAMPLE])
    ],
    known: _Known = "",
) -> Response:
    """The picture of the table, figure or equation that names this `crop`, as PNG."""
    picture = find_crop(library, crop)
    if etag_matches(crop, known=known):
        return not_modified(crop, lasting=True)
    return image_response(picture, tag=crop, lasting=True)


@router.get(
    "/papers/{paper}/pages/{page}.png",
    summary="A page with boxes drawn in",
    response_class=Response,
    responses=document_content("image/png"),
)
async def show_page(
    request: Request,
    service: ServiceOf,
    caller: CallerOf,
    library: LibraryOf,
    paper: PaperOf,
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
    known: _Known = "",
) -> Response:
    """A page of a paper as PNG, with the boxes of elements and any others marked: what an answer cites, say."""
    if page not in {one.number for one in paper.pages}:
        raise ProblemError(404, "unknown-page", f"paper {paper.id!r} has no page {page}; it has {len(paper.pages)}")
    ids = [_on_page(paper, name, page) for name in element]
    boxes = [Box(*map(float, one.split(","))) for one in box]
    drawn = (__version__, library.entry(paper.id).revision, paper.sha256, page, dpi, ids, boxes)
    tag = content_hash(repr(drawn).encode())
    if etag_matches(tag, known=known):
        return not_modified(tag, lasting=False)

    async def draw() -> bytes:
        async with service.pictures.admit(caller.name):
            return await library.page_picture_async(
                paper.id, page, dpi=dpi, marked=[*ids, *boxes], password=_as_sent(password) or None
            )

    try:
        picture = await cancel_on_disconnect(request, draw())
    except PaperLockedError as error:
        opens = "send the password that opens it with this request, as X-Paper-Password; the service keeps none"
        raise ProblemError(403, "paper-locked", f"{paper.file!r} is encrypted: {opens}.") from error
    except PaperFileError as error:
        raise ProblemError(404, "no-picture", error.public) from error
    return image_response(picture, tag=tag, lasting=False)


def _as_sent(header: str) -> str:
    """A header's text, which came as UTF-8 from most clients, and was read as Latin-1."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


def _on_page(paper: Paper, name: str, page: int) -> str:
    """The id of an element that is to be marked. Raises ProblemError where the paper, or this page, has none such."""
    found = next((one for one in paper.elements if one.id == f"{paper.id}/{name}"), None)
    if found is None:
        raise unknown_element(paper.id, name)
    pages = sorted({place.page for place in places_of(found)})
    if page not in pages:
        where = " and ".join(map(str, pages))
        raise ProblemError(404, "other-page", f"{name!r} is not on page {page} of paper {paper.id!r}, but on {where}")
    return found.id
