"""Pictures: those cut from pages for tables, figures and equations, and whole pages with boxes drawn in."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Response

from service.http.access import LibraryOf
from service.http.paths import find_crop
from service.http.replies import is_known, not_modified, picture_reply, shown_as

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["pictures"])

_Known = Annotated[str, Header(alias="If-None-Match", description="Tags of what the caller has already.")]


@router.get(
    "/crops/{crop}", summary="A picture of an element", response_class=Response, responses=shown_as("image/png")
)
def show_crop(
    library: LibraryOf,
    crop: Annotated[str, Path(pattern=r"^[0-9a-f]{64}$", description="A crop's name: the SHA-256 of its bytes.")],
    known: _Known = "",
) -> Response:
    """The picture of the table, figure or equation that names this `crop`, as PNG."""
    picture = find_crop(library, crop)
    if is_known(crop, known=known):
        return not_modified(crop, lasting=True)
    return picture_reply(picture, tag=crop, lasting=True)
