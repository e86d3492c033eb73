"""Draws boxes on the image of a page: the elements that a parser read, or a location."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from ingest.document.crops import png_bytes
from paperscope_core.types import Box, Element, Figure, Page, Paper, Passage, Place, Reference, Table, places_of

__all__ = ["LEGEND", "Mark", "RenderPage", "draw_marks", "draw_page", "overlay_names", "page_marks"]

Color = tuple[int, int, int]
Font = ImageFont.ImageFont | ImageFont.FreeTypeFont
_TINT = 36
_FONT = 0.011
_DPI = 110
LEGEND: Mapping[str, Color] = {
    "title, authors": (106, 61, 154),
    "heading": (192, 28, 40),
    "text": (38, 110, 190),
    "list": (0, 130, 140),
    "code": (90, 90, 90),
    "footnote": (140, 100, 60),
    "reference": (100, 110, 130),
    "table": (20, 130, 50),
    "figure": (200, 100, 0),
    "equation": (190, 30, 140),
    "furniture": (160, 160, 160),
}
_ROLES = {"title": "title, authors", "authors": "title, authors", "abstract": "text", "paragraph": "text"}

RenderPage = Callable[[Page, int], bytes]
"""Renders a page of a file as PNG, at a resolution in dots per inch. Raises PaperFileError if it can't be drawn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A box in points of the page, with a colour (red, green, blue) and a short label at its corner.

    A `fine` mark is a thin line without tint, for boxes within boxes.
    """

    box: Box
    color: Color
    label: str = ""
    fine: bool = False


def overlay_names(paper: Paper) -> dict[int, str]:
    """Return the path of each page's picture by the page's number: `overlay/page-01.png`."""
    digits = max(2, *(len(str(page.number)) for page in paper.pages))
    return {page.number: f"overlay/page-{page.number:0{digits}}.png" for page in paper.pages}


def draw_page(paper: Paper, page: Page, render: RenderPage) -> bytes:
    """Return a page with its elements, as PNG. Raise PaperFileError if the page can't be drawn."""
    return draw_marks(render(page, _DPI), page_marks(paper, page.number), width=page.width, legend=LEGEND)


def page_marks(paper: Paper, page: int) -> list[Mark]:
    """Return the marks of a page: each element with its number in reading order (furniture has none) and its label;
    continuations with "…" before the number; captions, panels and table cells as fine boxes."""
    shown = [element for element in paper.elements if _kind(element) != "furniture"]
    numbers = {element.id: number for number, element in enumerate(shown, start=1)}
    return [mark for element in paper.elements for mark in _marks(element, page, number=numbers.get(element.id, 0))]


def _marks(element: Element, page: int, *, number: int) -> Iterator[Mark]:
    color = LEGEND[_kind(element)]
    name = " ".join(filter(None, [str(number or ""), "" if isinstance(element, Reference) else element.label]))
    if element.place.page == page:
        yield Mark(box=element.place.box, color=color, label=name)
    for place in places_of(element)[1:]:
        if place.page == page:
            yield Mark(box=place.box, color=color, label=f"…{number or ''}")
    for place in _inner_places(element):
        if place.page == page:
            yield Mark(box=place.box, color=color, fine=True)


def _kind(element: Element) -> str:
    """Return the element's word in the legend."""
    return _ROLES.get(element.role, element.role) if isinstance(element, Passage) else element.kind


def _inner_places(element: Element) -> Iterator[Place]:
    if isinstance(element, Table):
        yield from (cell.place for cell in element.cells if cell.text)
    if isinstance(element, Figure):
        yield from (panel.place for panel in element.panels)
    if isinstance(element, Table | Figure) and element.caption_place:
        yield element.caption_place


def draw_marks(
    picture: bytes, marks: Sequence[Mark], *, width: float, legend: Mapping[str, Color] | None = None
) -> bytes:
    """Return a page's picture (PNG) with the marks drawn on it, as PNG; `width` is the page's in points.

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
    return png_bytes(_with_legend(page, legend, font=font) if legend else page)


def _pixels(box: Box, *, scale: float, size: tuple[int, int]) -> tuple[float, float, float, float]:
    """Return the box in pixels, cut to the picture, its corners in order."""
    x0, x1 = sorted(min(max(value * scale, 0), size[0] - 1) for value in (box.x0, box.x1))
    y0, y1 = sorted(min(max(value * scale, 0), size[1] - 1) for value in (box.y0, box.y1))
    return x0, y0, x1, y1


def _label(brush: ImageDraw.ImageDraw, mark: Mark, *, at: tuple[float, float], font: Font) -> None:
    """Draw the label in the mark's colour, to the left of the box if there is space."""
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
