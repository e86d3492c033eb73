"""Draws boxes on the image of a page, to check a parser or to show a location."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from paperscope_core.types import Box

__all__ = ["Color", "Mark", "draw_marks"]

Color = tuple[int, int, int]
Font = ImageFont.ImageFont | ImageFont.FreeTypeFont
_TINT = 36
_FONT = 0.011


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A box in points of the page, with a colour (red, green, blue) and a short label at its corner.

    A `fine` mark is a thin line without tint, for boxes within boxes.
    """

    box: Box
    color: Color
    label: str = ""
    fine: bool = False


def draw_marks(
    picture: bytes, marks: Sequence[Mark], *, width: float, legend: Mapping[str, Color] | None = None
) -> bytes:
    """Returns a page's picture (PNG) with the marks drawn on it, as PNG; `width` is the page's in points.

    The legend, a word per colour, is drawn on a strip below the page.
    """
    with Image.open(io.BytesIO(picture)) as opened:
        page = opened.convert("RGB")
    scale = page.width / width
    tint = Image.new("RGBA", page.size, (0, 0, 0, 0))
    boxes = [(mark, _pixels(mark.box, scale=scale, size=page.size)) for mark in marks]
    brush = ImageDraw.Draw(tint)
    for mark, box in boxes:
        brush.rectangle(box, fill=None if mark.fine else (*mark.color, _TINT), outline=(*mark.color, 255), width=1)
    page.paste(tint, mask=tint.getchannel("A"))
    font = ImageFont.load_default(max(10, round(page.height * _FONT)))
    brush = ImageDraw.Draw(page)
    for mark, box in boxes:
        if mark.label:
            _label(brush, mark, at=(box[0], box[1]), font=font)
    out = io.BytesIO()
    (_with_legend(page, legend, font=font) if legend else page).save(out, format="PNG")
    return out.getvalue()


def _pixels(box: Box, *, scale: float, size: tuple[int, int]) -> tuple[float, float, float, float]:
    """Returns the box in pixels, cut to the picture, its corners in order."""
    x0, x1 = sorted(min(max(value * scale, 0), size[0] - 1) for value in (box.x0, box.x1))
    y0, y1 = sorted(min(max(value * scale, 0), size[1] - 1) for value in (box.y0, box.y1))
    return x0, y0, x1, y1


def _label(brush: ImageDraw.ImageDraw, mark: Mark, *, at: tuple[float, float], font: Font) -> None:
    """Draws the label in the mark's colour, to the left of the box if there is space."""
    x0, y0, x1, y1 = brush.textbbox((0, 0), mark.label, font=font)
    width, height = x1 - x0 + 4, y1 - y0 + 4
    left, top = max(at[0] - width, 0), at[1]
    brush.rectangle((left, top, left + width, top + height), fill=mark.color)
    brush.text((left + 2 - x0, top + 2 - y0), mark.label, font=font, fill=(255, 255, 255))


def _with_legend(page: Image.Image, legend: Mapping[str, Color], *, font: Font) -> Image.Image:
    brush = ImageDraw.Draw(page)
    line = round(brush.textbbox((0, 0), "Ag", font=font)[3] * 1.8)
    spots: list[tuple[int, int, str, Color]] = []
    x, y = line, 0
    for word, color in legend.items():
        width = round(brush.textlength(word, font=font)) + 2 * line
        if x + width > page.width and x > line:
            x, y = line, y + line
        spots.append((x, y, word, color))
        x += width
    whole = Image.new("RGB", (page.width, page.height + y + 2 * line), (255, 255, 255))
    whole.paste(page)
    brush = ImageDraw.Draw(whole)
    brush.line((0, page.height, page.width, page.height), fill=(160, 160, 160))
    for x, y, word, color in spots:
        top = page.height + line // 2 + y
        brush.rectangle((x, top + line // 6, x + line // 2, top + 2 * line // 3), fill=color)
        brush.text((x + 2 * line // 3, top), word, font=font, fill=(0, 0, 0))
    return whole
