"""What a page draws that may be part of a figure."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.turning import turned_box, turned_size
from paperscope.types import Box

__all__ = ["Graphics", "graphics_of"]

_THIN = 1.6
_STRAY = 12.0
_MOSTLY = 0.7


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Graphics:
    """The pictures and drawings of a page, and its letters that don't stand upright, as labels of axes."""

    images: Sequence[Box]
    drawings: Sequence[Box]
    letters: Sequence[Box]

    def within(self, area: Box) -> list[Box]:
        """What lies in an area, pictures cut to it, without rules that stand alone above or below all else."""
        ink = [_cut(box, area) for box in self.images if _share(box, area) >= _MOSTLY]
        ink += [_cut(box, area) for box in self.drawings if _share(box, area) >= 0.95]
        return _without_stray_rules(ink)


def graphics_of(layout: PageLayout, *, taken: Sequence[Box]) -> Graphics:
    """The graphics of a page outside its tables (`taken`), without dots and page-wide backgrounds."""
    content = layout.content
    frames = [Box(box.x0 - 3, box.y0 - 3, box.x1 + 3, box.y1 + 3) for box in taken]
    letters = [
        turned_box(
            Box(char.x0, char.baseline - 0.75 * char.size, char.x1, char.baseline + 0.25 * char.size),
            *turned_size(content.width, content.height, turns=char.direction),
            turns=-char.direction,
        )
        for char in content.chars
        if char.direction
    ]
    drawings = [box for box in _shown(content.drawings, layout) if max(box.x1 - box.x0, box.y1 - box.y0) > 2]
    return Graphics(
        images=[box for box in _shown(content.images, layout) if not _touches(box, frames)],
        drawings=[box for box in drawings if not _touches(box, frames)],
        letters=[box for box in letters if not _touches(box, frames)],
    )


def _shown(boxes: Sequence[Box], layout: PageLayout) -> list[Box]:
    width, height = layout.content.width, layout.content.height
    cut = [Box(max(box.x0, 0), max(box.y0, 0), min(box.x1, width), min(box.y1, height)) for box in boxes]
    return [
        box
        for box in cut
        if box.x1 >= box.x0 and box.y1 >= box.y0 and (box.x1 - box.x0) * (box.y1 - box.y0) < 0.9 * width * height
    ]


def _touches(box: Box, frames: Sequence[Box]) -> bool:
    """Whether the middle of a box lies in one of the frames."""
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    return any(frame.x0 <= x <= frame.x1 and frame.y0 <= y <= frame.y1 for frame in frames)


def _without_stray_rules(ink: list[Box]) -> list[Box]:
    """The ink without horizontal rules at its top or foot that a gap sets apart: they end what stands beside it."""
    ordered = sorted(ink, key=lambda box: box.y0)
    while len(ordered) > 1 and _is_rule(ordered[0]) and ordered[1].y0 - ordered[0].y1 > _STRAY:
        ordered.pop(0)
    ordered.sort(key=lambda box: box.y1)
    while len(ordered) > 1 and _is_rule(ordered[-1]) and ordered[-1].y0 - ordered[-2].y1 > _STRAY:
        ordered.pop()
    return ordered


def _is_rule(box: Box) -> bool:
    return box.y1 - box.y0 < _THIN and box.x1 - box.x0 > 30


def _share(box: Box, area: Box) -> float:
    """The share of a box, a hairline's length included, that lies in an area."""
    return _along(box.x0, box.x1, area.x0, area.x1) * _along(box.y0, box.y1, area.y0, area.y1)


def _along(low: float, high: float, from_: float, to: float) -> float:
    """The share of an interval, widened to 0.2 where it has no length, that lies between two bounds."""
    low, high = (low, high) if high - low > 0.2 else (low - 0.1, low + 0.1)
    return max(0.0, min(high, to) - max(low, from_)) / (high - low)


def _cut(box: Box, area: Box) -> Box:
    return Box(max(box.x0, area.x0), max(box.y0, area.y0), min(box.x1, area.x1), min(box.y1, area.y1))
