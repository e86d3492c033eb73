"""Cutting the blank borders off a picture."""

import io

from PIL import Image

from paperscope.types import Box

__all__ = ["trimmed"]

_WHITE = 250
_WORTH = 4.0


def trimmed(picture: bytes, box: Box, *, margin: float) -> tuple[bytes, Box]:
    """A PNG that shows a box of a page, and the box, without white borders wider than `margin` (in points).

    A picture that is blank, or has no border worth a cut, comes back as it is.
    """
    with Image.open(io.BytesIO(picture)) as image:
        ink = image.convert("L").point(lambda value: 255 * (value < _WHITE)).getbbox()
        if ink is None:
            return picture, box
        across, down = (box.x1 - box.x0) / image.width, (box.y1 - box.y0) / image.height
        left, top = max(0, ink[0] - round(margin / across)), max(0, ink[1] - round(margin / down))
        right = min(image.width, ink[2] + round(margin / across))
        bottom = min(image.height, ink[3] + round(margin / down))
        if max(left * across, top * down, (image.width - right) * across, (image.height - bottom) * down) < _WORTH:
            return picture, box
        out = io.BytesIO()
        image.crop((left, top, right, bottom)).save(out, "PNG")
    cut = Box(box.x0 + left * across, box.y0 + top * down, box.x0 + right * across, box.y0 + bottom * down)
    return out.getvalue(), cut
