"""Figures: the graphics beside a caption, and pictures without one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.pdf.captions import Caption
from ingest.pdf.columns import crosses
from ingest.pdf.graphics import Graphics, find_running_text, graphics_of
from ingest.pdf.layout import BodyStyle, PageLayout
from ingest.pdf.lines import Line, bounding_box
from ingest.pdf.panels import FoundPanel, find_panels, is_marked
from paperscope_core.types import Box

__all__ = [
    "MARGIN",
    "FoundFigure",
    "Surroundings",
    "find_figures",
    "find_lone_pictures",
    "free_areas",
    "repeated_pictures",
]


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
    far = bounding_box(outside)
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


_LEAST_SIDE = 80.0
_LEAST_SHARE = 0.02
_MOST_SHARE = 0.6


def repeated_pictures(layouts: Sequence[PageLayout]) -> frozenset[Box]:
    """The boxes of pictures that come again at the same spot on another page: decoration."""
    counts = Counter(spot for layout in layouts for spot in {box.rounded() for box in layout.content.images})
    return frozenset(spot for spot, count in counts.items() if count > 1)


def find_lone_pictures(layout: PageLayout, images: Sequence[Box], others: Sequence[Box]) -> list[Box]:
    """The pictures of a page that are as large as a figure and lie over none of the other boxes."""
    page = layout.content.width * layout.content.height
    return [
        box
        for box in _joined(images)
        if min(box.x1 - box.x0, box.y1 - box.y0) >= _LEAST_SIDE
        and _LEAST_SHARE < (box.x1 - box.x0) * (box.y1 - box.y0) / page < _MOST_SHARE
        and not any(_overlap(box, other) for other in others)
    ]


def _joined(images: Sequence[Box]) -> list[Box]:
    """Pictures that touch, as one: a picture may be stored in strips."""
    joined: list[Box] = []
    for box in sorted(images, key=lambda box: (box.y0, box.x0)):
        whole = box
        wide = Box(box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1)
        for other in [other for other in joined if _overlap(other, wide)]:
            joined.remove(other)
            whole = whole.union(other)
        joined.append(whole)
    return joined


def _overlap(box: Box, other: Box) -> bool:
    return min(box.x1, other.x1) > max(box.x0, other.x0) and min(box.y1, other.y1) > max(box.y0, other.y0)


_REACH = 14.0
_ASIDE = 30.0
_LEAST = 12.0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundFigure:
    """A figure on a page (its index from 0), with the lines printed inside it and its parts.

    The caption of a picture without one has no lines.
    """

    page: int
    caption: Caption
    box: Box
    lines: frozenset[Line]
    panels: tuple[FoundPanel, ...] = ()

    @property
    def text(self) -> str:
        """The lines inside, from top to bottom."""
        return "\n".join(line.text for line in sorted(self.lines, key=lambda line: (line.baseline, line.box.x0)))


def find_figures(
    layout: PageLayout,
    captions: Sequence[Caption],
    *,
    page: int,
    taken: Sequence[Box],
    free: Sequence[Line],
    body: BodyStyle,
    furniture: frozenset[Line] = frozenset(),
) -> list[FoundFigure]:
    """The figures of a page. `taken` are the boxes of its tables, `free` the lines outside tables and captions."""
    wanted = [caption for caption in captions if caption.kind != "other"]
    if not wanted and not layout.content.images:
        return []
    prose = find_running_text(layout, free, body=body) | furniture
    graphics = graphics_of(layout, taken=taken)
    found: list[FoundFigure] = []
    blocks = [*taken, *(caption.box for caption in captions)]
    for caption in wanted:
        used = {line for figure in found for line in figure.lines}
        surroundings = Surroundings(
            captions=[other.box for other in captions if other is not caption],
            barriers=[*(box for box in blocks if box is not caption.box), *(figure.box for figure in found)],
            prose=[line for line in free if line in prose],
            labels=[line for line in free if line not in prose and line not in used],
            graphics=graphics,
        )
        found.append(_find(layout, caption, surroundings, page=page))
    others = [*blocks, *(figure.box for figure in found), *(line.box for line in prose)]
    return [*found, *(_picture(box, page=page) for box in find_lone_pictures(layout, graphics.images, others))]


def _picture(box: Box, *, page: int) -> FoundFigure:
    caption = Caption(kind="figure", label="", text="", lines=(), box=box)
    return FoundFigure(page=page, caption=caption, box=box, lines=frozenset())


def _find(layout: PageLayout, caption: Caption, around: Surroundings, *, page: int) -> FoundFigure:
    best: tuple[float, Box, frozenset[Line], list[Box]] | None = None
    for cost, area in free_areas(layout, caption, around):
        ink = around.graphics.within(area)
        box = bounding_box(ink) if ink else None
        if box is None or min(box.x1 - box.x0, box.y1 - box.y0) <= _LEAST:
            continue
        lines, whole = _with_labels(box, around, area)
        gap = _gap(whole, caption.box) + cost
        if best is None or gap < best[0]:
            best = gap, whole, lines, ink
    if best is None:
        return _of_text(layout, caption, around, page=page)
    _, whole, lines, ink = best
    letters = [letter for letter in around.graphics.letters if _inside(letter, whole)]
    panels = find_panels(whole, lines=lines, ink=ink, letters=letters, caption=caption.text)
    return FoundFigure(page=page, caption=caption, box=whole, lines=lines, panels=panels)


def _of_text(layout: PageLayout, caption: Caption, around: Surroundings, *, page: int) -> FoundFigure:
    """A figure that consists of text alone: the labels next to the caption, and those next to them."""
    best: tuple[float, Box, frozenset[Line]] | None = None
    for cost, area in free_areas(layout, caption, around):
        inside = [line for line in around.labels if _inside(line.box, _widened(area))]
        if inside:
            nearest = min(inside, key=lambda line: _gap(line.box, caption.box))
            gap = _gap(nearest.box, caption.box) + cost
            if best is None or gap < best[0]:
                lines, whole = _with_labels(nearest.box, around, area)
                best = gap, whole, lines
    if best is None:
        return FoundFigure(page=page, caption=caption, box=caption.box, lines=frozenset())
    return FoundFigure(page=page, caption=caption, box=best[1], lines=best[2])


def _with_labels(box: Box, around: Surroundings, area: Box) -> tuple[frozenset[Line], Box]:
    """The labels in and about a box, with those about them, and the box that holds them too."""
    wider = _widened(area)
    found: set[Line] = set()
    left = [line for line in around.labels if _inside(line.box, wider)]
    letters: Sequence[Box] = [letter for letter in around.graphics.letters if _inside(letter, wider)]
    while left or letters:
        near = Box(box.x0 - _ASIDE, box.y0 - _REACH, box.x1 + _ASIDE, box.y1 + _REACH)
        further = Box(near.x0, near.y0 - _REACH, near.x1, near.y1 + _REACH)
        more = [line for line in left if _inside(line.box, further if is_marked(line) else near)]
        askew = [letter for letter in letters if _inside(letter, near)]
        if not more and not askew:
            break
        found.update(more)
        left = [line for line in left if line not in found]
        letters = [letter for letter in letters if not _inside(letter, near)]
        box = bounding_box([box, *(line.box for line in more), *askew])
    return frozenset(found), box


def _widened(area: Box) -> Box:
    """An area with the margins of a crop: a label may stand as near to the text as that."""
    return Box(area.x0, area.y0 - MARGIN, area.x1, area.y1 + MARGIN)


def _gap(box: Box, caption: Box) -> float:
    """How far apart two boxes are, at least 0."""
    across = max(box.x0 - caption.x1, caption.x0 - box.x1, 0.0)
    down = max(box.y0 - caption.y1, caption.y0 - box.y1, 0.0)
    return max(across, down)


def _inside(box: Box, area: Box) -> bool:
    return box.x0 >= area.x0 and box.x1 <= area.x1 and box.y0 >= area.y0 and box.y1 <= area.y1
