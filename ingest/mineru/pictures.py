"""The pictures of a float as one PNG."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image

from ingest.mineru.blocks import Block
from ingest.mineru.folder import open_picture
from paperscope.types import Box

__all__ = ["picture_of"]

_MOST_SCALE = 600 / 72
_LONGEST = 6000


def picture_of(folder: Path, blocks: Sequence[Block]) -> bytes:
    """The PNG of the blocks' pictures, several set where they stand on the page; there is at least one.

    Raises `PictureError`.
    """
    pictures = [(block.box, open_picture(folder, name)) for block in blocks for name in block.images]
    if len(pictures) == 1:
        return _png(pictures[0][1])
    return _png(_composed(pictures))


def _composed(pictures: Sequence[tuple[Box, Image.Image]]) -> Image.Image:
    """All pictures on white, at the finest of their resolutions."""
    whole = pictures[0][0]
    for box, _ in pictures:
        whole = whole.union(box)
    scale = max(picture.width / max(box.x1 - box.x0, 1) for box, picture in pictures)
    scale = min(scale, _MOST_SCALE, _LONGEST / max(whole.x1 - whole.x0, whole.y1 - whole.y0, 1))
    canvas = Image.new("RGB", _pixels(whole, scale), "white")
    for box, picture in pictures:
        shown = picture.resize(_pixels(box, scale))
        canvas.paste(shown, (round((box.x0 - whole.x0) * scale), round((box.y0 - whole.y0) * scale)))
    return canvas


def _pixels(box: Box, scale: float) -> tuple[int, int]:
    return max(1, round((box.x1 - box.x0) * scale)), max(1, round((box.y1 - box.y0) * scale))


def _png(picture: Image.Image) -> bytes:
    out = BytesIO()
    picture.save(out, format="PNG")
    return out.getvalue()
