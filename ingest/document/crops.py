"""Crops of tables, figures and equations, rendered from their pages."""

import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from PIL import Image

from ingest.document.geometry import overlap, turns_at
from ingest.document.pages import Document, PageContent, PageReadError
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.types import (
    Box,
    Element,
    Equation,
    Figure,
    PageProblem,
    Paper,
    ParsedPaper,
    Place,
    Table,
    content_hash,
    places_of,
)

__all__ = ["add_crops", "below_one_another", "png_bytes", "trim_white"]

_MARGIN = 4.0  # Points around an element, so that strokes on its edge are not cut.
_MIN_SIDE = 2.0  # Points; a picture needs some pixels.
_WHITE = 250  # Lighter grey levels are paper; antialiasing and JPEG leave it slightly off white.
_MIN_TRIM = 4.0  # Points; a narrower border is not trimmed.

_Float: TypeAlias = Table | Figure | Equation


def add_crops(paper: Paper, document: Document, *, views: Sequence[PageContent], dpi: int) -> ParsedPaper:
    """Render a crop of each table, figure and equation.

    Args:
        paper: A paper without crops.
        document: Its open file.
        views: The pages as they were turned for reading; the crops are turned in the same way.

    Returns:
        The paper with its crops; a page that can't be rendered is a problem of the paper.
    """
    crops: dict[str, bytes] = {}
    named: dict[str, dict[Place, str]] = defaultdict(dict)
    trimmed: dict[str, Box] = {}
    problems: list[PageProblem] = []
    sizes = {page.number: page for page in paper.pages}
    for (number, turns), wanted in sorted(_wanted(paper, views).items()):
        page = sizes[number]
        boxes = [
            _clipped_to_page(_beside_caption(place, element), width=page.width, height=page.height)
            for element, place in wanted
        ]
        extend_time_limit()
        try:
            pictures = document.render(number, boxes, dpi=dpi, turns=turns)
        except PageReadError as error:
            problems.append(PageProblem(page=number, reason=f"its pictures can't be rendered: {error}"))
            continue
        for (element, place), box, rendered in zip(wanted, boxes, pictures, strict=True):
            picture = rendered
            if isinstance(element, Figure) and turns == 0:
                picture, cut = trim_white(rendered, box, margin=_MARGIN)
                if place is element.place:
                    trimmed[element.id] = _without_margin(cut, box, place.box)
            named[element.id][place] = content_hash(picture)
            crops[named[element.id][place]] = picture
    elements: list[Element] = [
        _with_crops(element, named[element.id], box=trimmed.get(element.id, element.place.box))
        if isinstance(element, _Float)
        else element
        for element in paper.elements
    ]
    return ParsedPaper(
        paper=replace(paper, elements=tuple(elements), problems=(*paper.problems, *problems)), crops=crops
    )


def trim_white(picture: bytes, box: Box, *, margin: float) -> tuple[bytes, Box]:
    """Trim white borders wider than `margin` (in points) off the PNG of a box of a page.

    Returns:
        The trimmed picture and its box; both unchanged if the picture is blank or hardly has a border.
    """
    with Image.open(io.BytesIO(picture)) as image:
        across, down = (box.x1 - box.x0) / image.width, (box.y1 - box.y0) / image.height
        # The margin may show the edge of other content.
        inset = round(margin / across), round(margin / down)
        inside = image.crop((*inset, max(inset[0], image.width - inset[0]), max(inset[1], image.height - inset[1])))
        inked = inside.convert("L").point(lambda value: 255 * (value < _WHITE)).getbbox()
        if inked is None:
            return picture, box
        ink = tuple(at + inset[side % 2] for side, at in enumerate(inked))
        left, top = max(0, ink[0] - round(margin / across)), max(0, ink[1] - round(margin / down))
        right = min(image.width, ink[2] + round(margin / across))
        bottom = min(image.height, ink[3] + round(margin / down))
        if max(left * across, top * down, (image.width - right) * across, (image.height - bottom) * down) < _MIN_TRIM:
            return picture, box
        shown = png_bytes(image.crop((left, top, right, bottom)))
    cut = Box(box.x0 + left * across, box.y0 + top * down, box.x0 + right * across, box.y0 + bottom * down)
    return shown, cut


def below_one_another(pictures: Sequence[bytes]) -> bytes:
    """Return one PNG that shows pictures below one another, on white."""
    images = []
    for picture in pictures:
        with Image.open(io.BytesIO(picture)) as opened:
            images.append(opened.convert("RGB"))
    sheet = Image.new("RGB", (max(image.width for image in images), sum(image.height for image in images)), "white")
    top = 0
    for image in images:
        sheet.paste(image, (0, top))
        top += image.height
    return png_bytes(sheet)


def png_bytes(image: Image.Image) -> bytes:
    """Return an image as PNG."""
    out = io.BytesIO()
    image.save(out, format="PNG")
    return out.getvalue()


def _wanted(paper: Paper, views: Sequence[PageContent]) -> Mapping[tuple[int, int], Sequence[tuple[_Float, Place]]]:
    """Return the elements to crop and their places, by page and quarter turns."""
    views_of: dict[int, list[PageContent]] = defaultdict(list)
    for view in views:
        views_of[view.number].append(view)
    wanted: dict[tuple[int, int], list[tuple[_Float, Place]]] = defaultdict(list)
    for element in paper.elements:
        if isinstance(element, _Float):
            for place in places_of(element):
                wanted[place.page, turns_at(views_of[place.page], place.box)].append((element, place))
    return wanted


def _with_crops(element: _Float, crops: Mapping[Place, str], *, box: Box) -> _Float:
    """Return the element with its crops and its box, to which the panels of a figure are clipped."""
    more = tuple(crops[place] for place in places_of(element)[1:] if place in crops)
    element = replace(element, crop=crops.get(element.place), place=replace(element.place, box=box))
    if isinstance(element, Table):
        return replace(element, more_crops=more)
    if isinstance(element, Figure):
        places = (replace(panel.place, box=_clipped(panel.place.box, box)) for panel in element.panels)
        panels = (replace(panel, place=place) for panel, place in zip(element.panels, places, strict=True))
        return replace(element, panels=tuple(panels), more_crops=more)
    return element


def _clipped(box: Box, other: Box) -> Box:
    """Return the part of a box inside another one, without area if they don't overlap."""
    x0, y0 = min(max(box.x0, other.x0), other.x1), min(max(box.y0, other.y0), other.y1)
    return Box(x0, y0, max(x0, min(box.x1, other.x1)), max(y0, min(box.y1, other.y1)))


def _without_margin(cut: Box, padded: Box, whole: Box) -> Box:
    """Return the part of an element's box that its crop shows, which was trimmed from the padded box to `cut`."""
    x0 = whole.x0 if cut.x0 == padded.x0 else max(whole.x0, cut.x0 + _MARGIN)
    y0 = whole.y0 if cut.y0 == padded.y0 else max(whole.y0, cut.y0 + _MARGIN)
    x1 = whole.x1 if cut.x1 == padded.x1 else min(whole.x1, cut.x1 - _MARGIN)
    y1 = whole.y1 if cut.y1 == padded.y1 else min(whole.y1, cut.y1 - _MARGIN)
    return Box(x0, y0, max(x0, x1), max(y0, y1)).rounded()


def _beside_caption(place: Place, element: _Float) -> Box:
    """Return a place of an element with a margin that ends where the caption begins, so that no line of it is cut.

    A caption that overlaps the place is in the crop as a whole.
    """
    box = place.box.grown(_MARGIN, _MARGIN)
    caption = None if isinstance(element, Equation) else element.caption_place
    if caption is None or caption.page != place.page or not overlap(box, caption.box):
        return box
    x0, y0, x1, y1 = box
    if caption.box.y1 <= place.box.y0:
        return Box(x0, caption.box.y1, x1, y1)
    if caption.box.y0 >= place.box.y1:
        return Box(x0, y0, x1, caption.box.y0)
    if caption.box.x1 <= place.box.x0:
        return Box(caption.box.x1, y0, x1, y1)
    if caption.box.x0 >= place.box.x1:
        return Box(x0, y0, caption.box.x0, y1)
    return box.union(caption.box)


def _clipped_to_page(box: Box, *, width: float, height: float) -> Box:
    """Return the box clipped to the page, at least 2 pt wide and high."""
    x0, y0 = min(max(0.0, box.x0), width - _MIN_SIDE), min(max(0.0, box.y0), height - _MIN_SIDE)
    x1, y1 = min(width, box.x1), min(height, box.y1)
    return Box(x0, y0, max(x1, x0 + _MIN_SIDE), max(y1, y0 + _MIN_SIDE))
