"""Where a caption's figure may stand: the free areas round it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.pdf.captions import Caption
from ingest.pdf.figures.graphics import Graphics
from ingest.pdf.page.flow import crosses
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.lines import Line, bounds
from paperscope.types import Box

__all__ = ["MARGIN", "Surroundings", "free_areas"]

MARGIN = 4.0
_ABOVE_FIRST = 8.0
_WHOLE_FIRST = 5.0
_SIDES_LAST = 60.0
_NEAR = 60.0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Surroundings:
    """What stands round a caption: what no figure covers, and what a figure may consist of."""

    captions: Sequence[Box]
    barriers: Sequence[Box]
    prose: Sequence[Line]
    labels: Sequence[Line]
    graphics: Graphics


def free_areas(layout: PageLayout, caption: Caption, around: Surroundings) -> Iterator[tuple[float, Box]]:
    """The free areas round a caption, each with what it costs to look there: above, below, across all columns, beside.

    They keep a crop's margin from the caption and from the text.
    """
    solid = [*around.barriers, *(line.box for line in around.prose)]
    band = _band(layout, caption, around)
    yield from _above_and_below(layout, caption, solid, band)
    page = (0.0, layout.content.width)
    if layout.columns > 1:
        for cost, area in _above_and_below(layout, caption, solid, page):
            if _goes_across(layout, around, area, band):
                yield cost - _WHOLE_FIRST, area
    else:
        yield from _sides(layout, caption, solid)


def _above_and_below(
    layout: PageLayout, caption: Caption, solid: Sequence[Box], band: tuple[float, float]
) -> Iterator[tuple[float, Box]]:
    left, right = band
    beside = [other for other in solid if min(other.x1, right) - max(other.x0, left) > 20]
    box = caption.box
    top = max((other.y1 for other in beside if other.y1 <= box.y0 + 2), default=0.0)
    bottom = min((other.y0 for other in beside if other.y0 >= box.y1 - 2), default=layout.content.height)
    yield 0.0, Box(left - 3, top + MARGIN - 1, right + 3, box.y0 - MARGIN)
    yield _ABOVE_FIRST, Box(left - 3, box.y1 + MARGIN, right + 3, bottom - MARGIN + 1)


def _goes_across(layout: PageLayout, around: Surroundings, area: Box, band: tuple[float, float]) -> bool:
    """Whether what is drawn in an area across all columns is one figure: it crosses a gutter, or what of it lies
    outside the caption's column has no caption of its own."""
    ink = around.graphics.within(area)
    if any(crosses(box, gutter) for box in ink for gutter in layout.gutters):
        return True
    outside = [box for box in ink if box.x1 < band[0] or box.x0 > band[1]]
    if not outside or len(outside) == len(ink):
        return False
    far = bounds(outside)
    return not any(
        (box.x1 < band[0] or box.x0 > band[1]) and far.y0 - _NEAR < box.y1 and box.y0 < far.y1 + _NEAR
        for box in around.captions
    )


def _sides(layout: PageLayout, caption: Caption, solid: Sequence[Box]) -> Iterator[tuple[float, Box]]:
    """The free areas left and right of a caption that stands beside its figure."""
    box = caption.box
    left = max((other.x1 for other in solid if other.x1 <= box.x0 and _level(other, box)), default=0.0)
    right = min(
        (other.x0 for other in solid if other.x0 >= box.x1 and _level(other, box)), default=layout.content.width
    )
    for x0, x1 in ((left, box.x0 - MARGIN), (box.x1 + MARGIN, right)):
        if x1 - x0 > 60:
            over = [other for other in solid if min(other.x1, x1) - max(other.x0, x0) > 20]
            top = max((other.y1 for other in over if other.y1 <= box.y0 + 2), default=0.0)
            bottom = min((other.y0 for other in over if other.y0 >= box.y1 - 2), default=layout.content.height)
            yield _SIDES_LAST, Box(x0, top, x1, bottom)


def _level(box: Box, other: Box) -> bool:
    return min(box.y1, other.y1) > max(box.y0, other.y0)


def _band(layout: PageLayout, caption: Caption, around: Surroundings) -> tuple[float, float]:
    """The x range that may belong to the caption: its columns, cut where text flows round a narrow figure, and halfway
    to a float beside it."""
    box = caption.box
    left = max((gutter for gutter in layout.gutters if gutter <= box.x0 + 15), default=0.0)
    right = min((gutter for gutter in layout.gutters if gutter >= box.x1 - 15), default=layout.content.width)
    text = [(line.box, False) for line in around.prose if line.width > 60]
    for other, floats in [*text, *((float_, True) for float_ in around.barriers)]:
        if not _level(other, box):
            continue
        if box.x1 < other.x0 < right:
            right = (other.x0 + box.x1) / 2 if floats else other.x0
        elif left < other.x1 < box.x0:
            left = (other.x1 + box.x0) / 2 if floats else other.x1
    return left, right
