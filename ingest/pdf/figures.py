"""Figures: the graphics beside a figure's caption."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.captions import Caption
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, bounds
from paperscope.types import Box

__all__ = ["FoundFigure", "find_figures"]

_REACH = 14.0
_LEAST = 12.0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundFigure:
    """A figure on a page (its index from 0), with the lines printed inside it."""

    page: int
    caption: Caption
    box: Box
    lines: frozenset[Line]

    @property
    def text(self) -> str:
        """The lines inside, from top to bottom."""
        return "\n".join(line.text for line in sorted(self.lines, key=lambda line: (line.baseline, line.box.x0)))


def find_figures(
    layout: PageLayout, captions: Sequence[Caption], *, page: int, taken: Sequence[Box], free: Sequence[Line]
) -> list[FoundFigure]:
    """The figures of a page. `taken` are the boxes of its tables, `free` the lines outside tables and captions."""
    found: list[FoundFigure] = []
    blocks = [*taken, *(caption.box for caption in captions)]
    for caption in captions:
        if caption.kind == "other":
            continue
        used = {line for figure in found for line in figure.lines}
        rest = [line for line in free if line not in used]
        barriers = [*(box for box in blocks if box is not caption.box), *(figure.box for figure in found)]
        found.append(_find(layout, caption, page=page, captions=captions, barriers=barriers, free=rest))
    return found


def _find(
    layout: PageLayout,
    caption: Caption,
    *,
    page: int,
    captions: Sequence[Caption],
    barriers: Sequence[Box],
    free: Sequence[Line],
) -> FoundFigure:
    left, right = _band(layout, caption, [*barriers, *_beside(caption, captions, free)])
    images = _graphics(layout, layout.content.images)
    drawings = _graphics(layout, layout.content.drawings)
    prose = [line for line in free if _is_prose(line, caption, [*images, *drawings])]
    solid = [*barriers, *(line.box for line in prose)]
    for area in _areas(layout, caption, solid, left=left, right=right):
        ink = [box for box in drawings if _inside(box, area)]
        ink += [_cut(box, area) for box in images if _mostly_inside(box, area)]
        labels = [line for line in free if line not in prose and _inside(line.box, area)]
        box = bounds(ink) if ink else caption.box
        if ink and min(box.x1 - box.x0, box.y1 - box.y0) > _LEAST:
            near = Box(box.x0 - 30, box.y0 - _REACH, box.x1 + 30, box.y1 + _REACH)
            inside = [line for line in labels if _inside(line.box, near)]
            whole = bounds([box, *(line.box for line in inside)])
            return FoundFigure(page=page, caption=caption, box=whole, lines=frozenset(inside))
    above = _areas(layout, caption, solid, left=left, right=right)[0]
    labels = [line for line in free if line not in prose and _inside(line.box, above)]
    box = bounds(line.box for line in labels) if labels else caption.box
    return FoundFigure(page=page, caption=caption, box=box, lines=frozenset(labels))


def _graphics(layout: PageLayout, boxes: Sequence[Box]) -> list[Box]:
    """Pictures or drawings cut to the page, without dots and page-wide backgrounds."""
    width, height = layout.content.width, layout.content.height
    cut = [Box(max(box.x0, 0), max(box.y0, 0), min(box.x1, width), min(box.y1, height)) for box in boxes]
    return [
        box
        for box in cut
        if box.x1 >= box.x0
        and box.y1 >= box.y0
        and max(box.x1 - box.x0, box.y1 - box.y0) > 2
        and (box.x1 - box.x0) * (box.y1 - box.y0) < 0.9 * width * height
    ]


def _band(layout: PageLayout, caption: Caption, neighbours: Sequence[Box]) -> tuple[float, float]:
    """The x range that may belong to the caption: its column, cut halfway to what stands beside it."""
    left, right = 0.0, layout.content.width
    box, gutter = caption.box, layout.gutter
    if gutter is not None and not box.x0 < gutter - 15 < gutter + 15 < box.x1:
        left, right = (left, gutter) if (box.x0 + box.x1) / 2 < gutter else (gutter, right)
    for other in neighbours:
        if other.y1 < box.y0 or other.y0 > box.y1:
            continue
        if other.x0 > box.x1:
            right = min(right, (other.x0 + box.x1) / 2)
        elif other.x1 < box.x0:
            left = max(left, (other.x1 + box.x0) / 2)
    return left, right


def _beside(caption: Caption, captions: Sequence[Caption], free: Sequence[Line]) -> list[Box]:
    """Other captions, and the running text that flows round a narrow figure."""
    text = [line.box for line in free if len(line.words) > 3 and line.width > 60]
    return [*(other.box for other in captions if other is not caption), *text]


def _areas(layout: PageLayout, caption: Caption, solid: Sequence[Box], *, left: float, right: float) -> tuple[Box, Box]:
    """The free area above the caption, and the one below."""
    box = caption.box
    beside = [other for other in solid if min(other.x1, right) - max(other.x0, left) > 20]
    top = max((other.y1 for other in beside if other.y1 <= box.y0 + 2), default=0.0)
    bottom = min((other.y0 for other in beside if other.y0 >= box.y1 - 2), default=layout.content.height)
    return (
        Box(left - 3, top - 3, right + 3, box.y0 + 4),
        Box(left - 3, box.y1 - 4, right + 3, bottom + 3),
    )


def _inside(box: Box, area: Box) -> bool:
    return box.x0 >= area.x0 and box.x1 <= area.x1 and box.y0 >= area.y0 and box.y1 <= area.y1


def _mostly_inside(box: Box, area: Box) -> bool:
    """Whether at least 70 % of a box, a hairline's length included, lie in the area."""
    across = _shared(box.x0, box.x1, area.x0, area.x1)
    return across * _shared(box.y0, box.y1, area.y0, area.y1) >= 0.7


def _shared(low: float, high: float, from_: float, to: float) -> float:
    """The share of an interval, widened to 0.2 where it has no length, that lies between two bounds."""
    low, high = (low, high) if high - low > 0.2 else (low - 0.1, low + 0.1)
    return max(0.0, min(high, to) - max(low, from_)) / (high - low)


def _cut(box: Box, area: Box) -> Box:
    return Box(max(box.x0, area.x0), max(box.y0, area.y0), min(box.x1, area.x1), min(box.y1, area.y1))


def _is_prose(line: Line, caption: Caption, graphics: Sequence[Box]) -> bool:
    """Running text as wide as the caption's column, unless a large drawing is drawn around it."""
    framed = any(
        box.x0 <= line.box.x0 and box.x1 >= line.box.x1 and box.y0 <= line.box.y0 and box.y1 >= line.box.y1
        for box in graphics
        if box.x1 - box.x0 > 60 and box.y1 - box.y0 > 2 * line.size
    )
    width = max(member.width for member in caption.lines)
    return not framed and line.width > 0.75 * min(width, 220) and line.math < 0.3 and len(line.words) > 4
