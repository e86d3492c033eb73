"""What a page draws that may be part of a figure, and which of its lines are running text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import quantiles

from ingest.document.geometry import turned_box, turned_size
from ingest.pdf.layout import BodyStyle, PageLayout
from ingest.pdf.lines import Line
from paperscope_core.types import Box

__all__ = ["Graphics", "find_running_text", "graphics_of", "is_body_type"]


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


_MONO = re.compile(r"mono|nimbusmon|cour|tt\d|typewriter|consol|code|menlo|fira", re.IGNORECASE)
_COMPUTER_MODERN = re.compile(r"^(?:CM|SF|EC)(?:R|BX|TI|SL|CSC|RM|BI|B|CC)\d+", re.IGNORECASE)
_ALIKE = 0.6
_ITEM = re.compile(r"^[•●◦▪■–‣∙·]\s*\S")
_MARK = re.compile(r"^\([a-zA-Z]\)")
_BENEATH = 30.0
_LEAST_WORDS = 5
_LONG = 0.6


def find_running_text(layout: PageLayout, free: Sequence[Line], *, body: BodyStyle) -> set[Line]:
    """The lines of body type that are long or go on from one that is, the items of lists, and bold headings.

    What a large drawing frames is no running text.
    """
    frames = [
        box
        for box in (*layout.content.images, *layout.content.drawings)
        if box.x1 - box.x0 > 60 and box.y1 - box.y0 > 2 * body.size and not _covers_page(box, layout)
    ]
    drawn = [*layout.content.images, *layout.content.drawings]
    open_ = [line for line in free if not _is_framed(line, frames) and not _is_subcaption(line, drawn, free)]
    typed = [line for line in open_ if is_body_type(line, body)]
    wide = [line.width for line in typed if len(line.words) >= _LEAST_WORDS]
    if not wide:
        return {line for line in open_ if _is_heading(line, body)}
    measure = quantiles(wide, n=4)[2] if len(wide) > 1 else wide[0]
    long_ = {
        line for line in typed if len(line.words) >= _LEAST_WORDS and line.width > _LONG * measure and line.math < 0.3
    }
    found = long_ | {line for line in typed if _ITEM.match(line.text)}
    ordered = sorted(typed, key=lambda line: line.baseline)
    for lines in (ordered, ordered[::-1]):
        for line in lines:
            if line not in found and any(_adjoins(line, other) for other in found):
                found.add(line)
    return found | {line for line in open_ if _is_heading(line, body)}


def is_body_type(line: Line, body: BodyStyle) -> bool:
    """Whether a line is set in the body's family, bold and italics included, and about its size or that of notes."""
    if not 0.75 * body.size < line.size < body.size + 0.6 or (_MONO.search(line.font) and not _MONO.search(body.font)):
        return False
    if _COMPUTER_MODERN.match(line.font) and _COMPUTER_MODERN.match(body.font):
        return True
    first, second = (font.split("-")[0].split(",")[0] for font in (line.font, body.font))
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    return alike >= _ALIKE * min(len(first), len(second))


def _is_heading(line: Line, body: BodyStyle) -> bool:
    return line.bold > 0.8 and line.size > body.size + 1 and line.text[:1].isalnum() and len(line.text) > 3


def _is_framed(line: Line, frames: Sequence[Box]) -> bool:
    return any(
        box.x0 <= line.box.x0 and box.x1 >= line.box.x1 and box.y0 <= line.box.y0 and box.y1 >= line.box.y1
        for box in frames
    )


def _is_subcaption(line: Line, drawn: Sequence[Box], lines: Sequence[Line]) -> bool:
    """Whether a line with a mark, "(a) Training loss", stands below something drawn, with no text between."""
    if not _MARK.match(line.text):
        return False
    bottoms = [box.y1 for box in drawn if box.x0 < line.center < box.x1 and -2 < line.box.y0 - box.y1 < _BENEATH]
    texts = [other.baseline for other in lines if other.box.x0 < line.center < other.box.x1 and other is not line]
    return bool(bottoms) and not any(max(bottoms) < baseline < line.baseline - 1 for baseline in texts)


def _covers_page(box: Box, layout: PageLayout) -> bool:
    return (box.x1 - box.x0) * (box.y1 - box.y0) > 0.8 * layout.content.width * layout.content.height


def _adjoins(line: Line, other: Line) -> bool:
    """Whether a line stands directly above or below another of its column, at its left edge or near it."""
    pitch = abs(line.baseline - other.baseline)
    return (
        0.5 * line.size < pitch < 1.5 * line.size
        and abs(line.size - other.size) < 0.5
        and -3 < line.box.x0 - other.box.x0 < 2.5 * line.size
        and line.box.x1 < other.box.x1 + 3
    )
