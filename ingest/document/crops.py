"""Pictures of tables, figures and equations, cut out of their pages."""

import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PIL import Image

from ingest.document.geometry import turns_at
from ingest.document.pages import Document, PageContent, PageReadError
from ingest.sandbox.cancellation import extend_time_limit
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
)

__all__ = ["add_crops", "trimmed"]


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


_MARGIN = 4.0
_LEAST = 2.0


def add_crops(paper: Paper, document: Document, *, views: Sequence[PageContent], dpi: int) -> ParsedPaper:
    """Render a crop for each table, figure and equation; a page that can't be rendered becomes a problem.

    `views` are the pages as they were held for reading; the crops are held the same way.
    """
    crops: dict[str, bytes] = {}
    named: dict[str, dict[Place, str]] = defaultdict(dict)
    tight: dict[str, Box] = {}
    problems: list[PageProblem] = []
    for (number, turns), wanted in sorted(_wanted(paper, views).items()):
        page = paper.pages[[page.number for page in paper.pages].index(number)]
        boxes = [_padded(place.box, width=page.width, height=page.height) for _, place in wanted]
        extend_time_limit()
        try:
            pictures = document.render(number, boxes, dpi=dpi, turns=turns)
        except PageReadError as error:
            problems.append(PageProblem(page=number, reason=f"its pictures can't be rendered: {error}"))
            continue
        for (element, place), box, shown in zip(wanted, boxes, pictures, strict=True):
            picture = shown
            if isinstance(element, Figure) and turns == 0:
                picture, cut = trimmed(shown, box, margin=_MARGIN)
                tight[element.id] = _without_margin(cut, place.box)
            named[element.id][place] = content_hash(picture)
            crops[named[element.id][place]] = picture
    cropped: list[Element] = [
        _cropped(element, crops=named[element.id], box=tight.get(element.id, element.place.box))
        if isinstance(element, Table | Figure | Equation)
        else element
        for element in paper.elements
    ]
    paper = replace(paper, elements=tuple(cropped), problems=(*paper.problems, *problems))
    return ParsedPaper(paper=paper, crops=crops)


def _wanted(
    paper: Paper, views: Sequence[PageContent]
) -> Mapping[tuple[int, int], Sequence[tuple[Table | Figure | Equation, Place]]]:
    """What is to be cut out and where, by page and by the quarter turns at which it is read."""
    held: dict[int, list[PageContent]] = defaultdict(list)
    for view in views:
        held[view.number].append(view)
    wanted: dict[tuple[int, int], list[tuple[Table | Figure | Equation, Place]]] = defaultdict(list)
    for element in paper.elements:
        if isinstance(element, Table | Figure | Equation):
            for place in (element.place, *_more_places(element)):
                wanted[place.page, turns_at(held[place.page], place.box)].append((element, place))
    return wanted


def _more_places(element: Table | Figure | Equation) -> tuple[Place, ...]:
    return element.more_places if isinstance(element, Table) else ()


def _cropped(element: Table | Figure | Equation, *, crops: Mapping[Place, str], box: Box) -> Table | Figure | Equation:
    """The element with its crops and its box; the parts of a figure end where it ends."""
    more = tuple(crops[place] for place in _more_places(element) if place in crops)
    element = replace(element, crop=crops.get(element.place), place=replace(element.place, box=box))
    if isinstance(element, Table):
        return replace(element, more_crops=more)
    if isinstance(element, Figure):
        parts = [
            replace(panel, place=replace(panel.place, box=_shared(panel.place.box, box))) for panel in element.panels
        ]
        return replace(element, panels=tuple(parts))
    return element


def _shared(box: Box, other: Box) -> Box:
    x0, y0 = min(max(box.x0, other.x0), other.x1), min(max(box.y0, other.y0), other.y1)
    return Box(x0, y0, max(x0, min(box.x1, other.x1)), max(y0, min(box.y1, other.y1)))


def _without_margin(cut: Box, whole: Box) -> Box:
    """What a crop with its margin shows of an element's box."""
    x0, y0 = max(whole.x0, cut.x0 + _MARGIN), max(whole.y0, cut.y0 + _MARGIN)
    x1, y1 = min(whole.x1, cut.x1 - _MARGIN), min(whole.y1, cut.y1 - _MARGIN)
    return Box(x0, y0, max(x0, x1), max(y0, y1)).rounded()


def _padded(box: Box, *, width: float, height: float) -> Box:
    """The box with a margin, cut to the page, at least 2 pt wide and high."""
    x0, y0 = max(0.0, box.x0 - _MARGIN), max(0.0, box.y0 - _MARGIN)
    x1, y1 = min(width, box.x1 + _MARGIN), min(height, box.y1 + _MARGIN)
    x0, y0 = min(x0, width - _LEAST), min(y0, height - _LEAST)
    return Box(x0, y0, max(x1, x0 + _LEAST), max(y1, y0 + _LEAST))
