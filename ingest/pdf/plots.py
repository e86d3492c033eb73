"""Finds drawings that are plots or diagrams by their form: ticks of an axis, or marks that contain no text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ingest.document.geometry import bounding_box, contains, overlap
from ingest.pdf.lines import Line
from paperscope_core.types import Box

__all__ = ["find_plots"]

# Points unless said otherwise; chosen on package vignettes of statistics with plots drawn by R, and on slides.
_CELL = 8.0  # Drawings in one cell of this size, or in adjacent ones, belong together.
_MIN_SIDE = 60.0  # A lower or narrower drawing is a logo, a rule or a button.
_MAX_TICK = 10.0  # The longest tick; the cells of tables are wider.
_THIN = 1.6  # Thinner drawings are strokes.
_MIN_TICKS = 3  # Ticks of equal ends that show an axis.
_MIN_MARKS = 5  # Marks, such as points, bars and curves, that show a plot without ticks.
_ASIDE, _REACH = 30.0, 14.0  # The largest distances, horizontal and vertical, of a legend or panel from a plot.


def find_plots(drawings: Sequence[Box], *, lines: Sequence[Line], solid: Sequence[Box]) -> list[Box]:
    """Returns the boxes of the plots and diagrams of a page, without their labels; those with nothing in between are
    one.

    Args:
        drawings: The boxes of its drawings.
        lines: Its lines.
        solid: The boxes of running text and floats, which no plot overlaps.
    """
    parts = [bounding_box(group) for group in _groups(drawings)]
    whole: list[Box] = []
    for box in _joined(part for part in parts if min(part.width, part.height) > _MIN_SIDE):
        inside = [drawing for drawing in drawings if contains(box.grown(1, 1), drawing)]
        if not any(overlap(box, other) for other in solid) and (_has_axis(inside) or _has_marks(inside, lines)):
            whole.append(_with_legends(box, parts, solid))
    merged: list[Box] = []
    for box in sorted(whole, key=lambda box: (box.y0, box.x0)):
        union = bounding_box([*merged[-1:], box])
        if merged and not any(overlap(union, other) for other in solid):
            merged[-1] = union
        else:
            merged.append(box)
    return merged


def _with_legends(plot: Box, parts: Sequence[Box], solid: Sequence[Box]) -> Box:
    """Returns the box of a plot and of the drawings near it, and near these, as far as nothing solid is in between."""
    near = plot.grown(_ASIDE, _REACH)
    whole = bounding_box([plot, *(part for part in parts if overlap(part, near))])
    if whole == plot or any(overlap(whole, other) for other in solid):
        return plot
    return _with_legends(whole, parts, solid)


def _groups(drawings: Sequence[Box]) -> Iterator[list[Box]]:
    """Yields the drawings whose outlines are close together."""
    cells: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    outlines = [set(_outline(box)) for box in drawings]
    for index, outline in enumerate(outlines):
        for cell in outline:
            cells[cell].append(index)
    unseen = set(cells)
    while unseen:
        stack = [unseen.pop()]
        members: set[int] = set()
        while stack:
            column, row = stack.pop()
            members.update(cells[column, row])
            near = {(column + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1)} & unseen
            unseen -= near
            stack.extend(near)
        yield [drawings[index] for index in members]


def _outline(box: Box) -> Iterator[tuple[int, int]]:
    left, top, right, bottom = (int(edge // _CELL) for edge in box)
    for column in range(left, right + 1):
        yield column, top
        yield column, bottom
    for row in range(top, bottom + 1):
        yield left, row
        yield right, row


def _joined(boxes: Iterable[Box]) -> list[Box]:
    """Returns the boxes with overlapping ones joined."""
    joined: list[Box] = []
    for box in boxes:
        whole = box
        while touching := [other for other in joined if overlap(other, whole)]:
            joined = [other for other in joined if other not in touching]
            whole = bounding_box([whole, *touching])
        joined.append(whole)
    return joined


def _has_axis(drawings: Sequence[Box]) -> bool:
    """Whether there are ticks: short parallel strokes with equal ends."""
    ticks: defaultdict[tuple[bool, int, int], set[int]] = defaultdict(set)
    for x0, y0, x1, y1 in drawings:
        if y1 - y0 < _THIN < x1 - x0 < _MAX_TICK:
            ticks[True, round(x0), round(x1)].add(round(y0))
        elif x1 - x0 < _THIN < y1 - y0 < _MAX_TICK:
            ticks[False, round(y0), round(y1)].add(round(x0))
    return any(len(places) >= _MIN_TICKS for places in ticks.values())


def _has_marks(drawings: Sequence[Box], lines: Sequence[Line]) -> bool:
    """Whether enough drawings are neither strokes nor boxes of text."""
    count = 0
    for box in drawings:
        if min(box.width, box.height) > _THIN:
            framed = any(box.x0 < line.center < box.x1 and box.y0 < line.middle < box.y1 for line in lines)
            count += not framed
            if count >= _MIN_MARKS:
                return True
    return False
