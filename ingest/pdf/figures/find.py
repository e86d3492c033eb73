"""Figures: the graphics beside a figure's caption."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.captions import Caption
from ingest.pdf.figures.areas import MARGIN, Surroundings, free_areas
from ingest.pdf.figures.graphics import graphics_of
from ingest.pdf.figures.panels import FoundPanel, is_marked, panels_of
from ingest.pdf.figures.pictures import lone_pictures
from ingest.pdf.page.layout import BodyStyle, PageLayout
from ingest.pdf.page.lines import Line, bounds
from ingest.pdf.text.prose import running_text
from paperscope.types import Box

__all__ = ["FoundFigure", "find_figures"]

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
    prose = running_text(layout, free, body=body) | furniture
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
    return [*found, *(_picture(box, page=page) for box in lone_pictures(layout, graphics.images, others))]


def _picture(box: Box, *, page: int) -> FoundFigure:
    caption = Caption(kind="figure", label="", text="", lines=(), box=box)
    return FoundFigure(page=page, caption=caption, box=box, lines=frozenset())


def _find(layout: PageLayout, caption: Caption, around: Surroundings, *, page: int) -> FoundFigure:
    best: tuple[float, Box, frozenset[Line], list[Box]] | None = None
    for cost, area in free_areas(layout, caption, around):
        ink = around.graphics.within(area)
        box = bounds(ink) if ink else None
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
    panels = panels_of(whole, lines=lines, ink=ink, letters=letters, caption=caption.text)
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
        box = bounds([box, *(line.box for line in more), *askew])
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
