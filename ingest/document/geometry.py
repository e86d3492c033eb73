"""Boxes and rules on a page, and turning a page by quarter turns so that sideways text is upright.

`turns` counts the quarter turns clockwise of the text that becomes upright (`Char.direction`); the page itself is
turned the other way. Turning by `-turns` undoes turning by `turns`; `width` and `height` always measure the page before
it is turned.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ingest.document.pages import HorizontalRule, PageContent, VerticalRule
from paperscope_core.types import Box

__all__ = [
    "Shape",
    "SortedShapes",
    "bounding_box",
    "box_as_seen",
    "contains",
    "intersection",
    "join_boxes",
    "join_rules",
    "overlap",
    "overlap_x",
    "overlap_y",
    "quarter_turns",
    "reading_views",
    "runs_of",
    "sort_shapes",
    "turned_box",
    "turned_page",
    "turned_point",
    "turned_size",
    "turns_at",
]

Item = TypeVar("Item")

# The cosine of 8 degrees: a slightly skewed page still counts as upright.
_UPRIGHT_COSINE = 0.99

# Sideways text is read if it fills the page, or has a caption; the shares were chosen on the development papers.
_MIN_UPRIGHT_SHARE = 0.2  # A smaller share of upright text is the running head of a sideways page.
_WHOLE_PAGE_SHARE = 0.8  # The least share of sideways text that fills the page.
_MIN_SIDEWAYS_CHARS = 200  # Fewer characters are stamps and axis labels.
_CAPTION = re.compile(r"(Table|Tab\.|Figure|Fig\.)[A-Z]{0,2}\.?\d", re.IGNORECASE)
_SAME_BASELINE = 0.6  # Points; letters of one line differ only by rounding.

# Points; chosen on the rules of the development papers.
_THIN = 2.0  # The heavy rules of booktabs are 0.8 pt.
_DASH = 8.0  # The longest dash, and the widest gap between dashes.
_ABUTTING = 1.5  # Borders drawn cell by cell leave gaps of rounding; booktabs trims the rules of groups by 5 pt.
_SAME_LEVEL = 0.5  # The largest difference in height between rules of one line.
_MIN_RULE = 5.0  # Shorter strokes are marks and letters.


def runs_of(items: Iterable[Item], *, joins: Callable[[list[Item], Item], bool]) -> list[list[Item]]:
    """Split items into runs: an item that `joins` the previous run is appended to it, any other starts a run."""
    runs: list[list[Item]] = []
    for item in items:
        if runs and joins(runs[-1], item):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def bounding_box(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around at least one box."""
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return Box(min(x0s), min(y0s), max(x1s), max(y1s))


def join_boxes(boxes: Iterable[Box], *, gap: float = 0.0) -> list[Box]:
    """Return the boxes with those joined that overlap or are within `gap` of each other."""
    joined: list[Box] = []
    for box in boxes:
        whole = box
        while touching := [other for other in joined if overlap(other, whole.grown(gap, gap))]:
            joined = [other for other in joined if other not in touching]
            whole = bounding_box([whole, *touching])
        joined.append(whole)
    return joined


def overlap_x(box: Box, other: Box) -> float:
    """Return the length that two boxes share horizontally; negative if there is a gap."""
    return min(box.x1, other.x1) - max(box.x0, other.x0)


def overlap_y(box: Box, other: Box) -> float:
    """Return the length that two boxes share vertically; negative if there is a gap."""
    return min(box.y1, other.y1) - max(box.y0, other.y0)


def overlap(box: Box, other: Box) -> bool:
    """Return whether two boxes share some area."""
    return overlap_x(box, other) > 0 and overlap_y(box, other) > 0


def contains(outer: Box, inner: Box) -> bool:
    """Return whether a box contains another one."""
    return inner.x0 >= outer.x0 and inner.x1 <= outer.x1 and inner.y0 >= outer.y0 and inner.y1 <= outer.y1


def intersection(box: Box, other: Box) -> Box:
    """Return the part of a box inside another one that overlaps it."""
    return Box(max(box.x0, other.x0), max(box.y0, other.y0), min(box.x1, other.x1), min(box.y1, other.y1))


def quarter_turns(dx: float, dy: float) -> int | None:
    """Return the quarter turns clockwise of a line along a unit vector (y downwards); None at any other angle."""
    along = (dx, dy, -dx, -dy)
    return next((turns for turns in range(4) if along[turns] > _UPRIGHT_COSINE), None)


def turned_size(width: float, height: float, *, turns: int) -> tuple[float, float]:
    """Return the width and height of the turned page."""
    return (height, width) if turns % 2 else (width, height)


def turned_point(x: float, y: float, width: float, height: float, *, turns: int) -> tuple[float, float]:
    """Return a point on the turned page."""
    match turns % 4:
        case 1:
            return y, width - x
        case 2:
            return width - x, height - y
        case 3:
            return height - y, x
        case _:
            return x, y


def turned_box(box: Box, width: float, height: float, *, turns: int) -> Box:
    """Return a box on the turned page."""
    if turns % 4 == 0:
        return box
    x0, y0 = turned_point(box.x0, box.y0, width, height, turns=turns)
    x1, y1 = turned_point(box.x1, box.y1, width, height, turns=turns)
    return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def box_as_seen(box: Box, page: PageContent) -> Box:
    """Return a box of a page that may have been turned for reading, on the page as the reader sees it."""
    return turned_box(box, page.width, page.height, turns=-page.turns)


def turned_page(page: PageContent, *, turns: int) -> PageContent:
    """Return the page turned so that text of direction `turns` is upright."""
    if turns % 4 == 0:
        return page

    def place(box: Box) -> Box:
        return turned_box(box, page.width, page.height, turns=turns)

    level = [place(Box(rule.x0, rule.y, rule.x1, rule.y)) for rule in page.horizontal]
    plumb = [place(Box(rule.x, rule.y0, rule.x, rule.y1)) for rule in page.vertical]
    if turns % 2:
        level, plumb = plumb, level
    width, height = turned_size(page.width, page.height, turns=turns)
    return replace(
        page,
        width=width,
        height=height,
        chars=tuple(char._replace(direction=(char.direction - turns) % 4) for char in page.chars),
        horizontal=tuple(HorizontalRule(box.x0, box.x1, box.y0) for box in level),
        vertical=tuple(VerticalRule(box.x0, box.y0, box.y1) for box in plumb),
        fills=tuple(map(place, page.fills)),
        images=tuple(map(place, page.images)),
        drawings=tuple(map(place, page.drawings)),
    )


def reading_views(page: PageContent) -> list[PageContent]:
    """Return the page turned in each way in which it is read, the one with the most text first; at least one.

    Sideways text is read if it fills the page or has a caption (a landscape table); otherwise it is ignored, like axis
    labels and stamps in the margin. The running head above a sideways table is ignored, too. A page that was turned
    already, because its picture is on its side, stays so.
    """
    if page.turns:
        return [page]
    counts = Counter(char.direction for char in page.chars)
    read = [turns for turns, count in counts.most_common() if _is_read(page, turns, count)]
    return [replace(turned_page(page, turns=turns), turns=turns) for turns in read or [0]]


def _is_read(page: PageContent, turns: int, count: int) -> bool:
    share = count / len(page.chars)
    if turns == 0:
        return share >= _MIN_UPRIGHT_SHARE
    if share >= _WHOLE_PAGE_SHARE and count >= _MIN_SIDEWAYS_CHARS:
        return True
    chars = [char for char in page.chars if char.direction == turns]
    chars.sort(key=lambda char: (round(char.baseline / _SAME_BASELINE), char.x0))
    return bool(_CAPTION.search("".join(char.text for char in chars)))


def turns_at(views: Sequence[PageContent], box: Box) -> int:
    """Return the quarter turns of the view that has the most letters in a box of the page as the reader sees it."""
    if len(views) == 1:
        return views[0].turns

    def letters(view: PageContent) -> int:
        x0, y0, x1, y1 = turned_box(box, *turned_size(view.width, view.height, turns=view.turns), turns=view.turns)
        return sum(x0 <= char.x0 <= x1 and y0 <= char.baseline <= y1 for char in view.upright)

    return max(views, key=letters).turns


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A straight stroke or a rectangle; `filled` is true for a rectangle in any colour but white."""

    box: Box
    filled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SortedShapes:
    """The shapes of a page as rules and filled boxes."""

    horizontal: tuple[HorizontalRule, ...]
    vertical: tuple[VerticalRule, ...]
    fills: tuple[Box, ...]


def sort_shapes(shapes: Iterable[Shape]) -> SortedShapes:
    """Sort shapes into rules and filled boxes: a thin shape is a rule, and segments of one line become one rule."""
    horizontal: list[HorizontalRule] = []
    vertical: list[HorizontalRule] = []  # With x and y swapped.
    fills: list[Box] = []
    for shape in shapes:
        x0, y0, x1, y1 = shape.box
        width, height = x1 - x0, y1 - y0
        if height <= _THIN and width > height:
            horizontal.append(HorizontalRule(x0, x1, (y0 + y1) / 2))
        elif width <= _THIN:
            vertical.append(HorizontalRule(y0, y1, (x0 + x1) / 2))
        elif shape.filled:
            fills.append(shape.box)
    return SortedShapes(
        horizontal=tuple(rule for rule in join_rules(horizontal) if rule.width > _MIN_RULE),
        vertical=tuple(
            VerticalRule(rule.y, rule.x0, rule.x1) for rule in join_rules(vertical) if rule.width > _MIN_RULE
        ),
        fills=tuple(fills),
    )


def join_rules(rules: Iterable[HorizontalRule], *, gap: float = _ABUTTING) -> list[HorizontalRule]:
    """Join rules at one height that are dashes, or are within `gap` of each other (a border drawn cell by cell)."""
    levels = runs_of(
        sorted(rules, key=lambda rule: rule.y), joins=lambda level, rule: rule.y - level[-1].y < _SAME_LEVEL
    )
    return [rule for level in levels for rule in _join_level(sorted(level, key=lambda rule: rule.x0), gap=gap)]


def _join_level(rules: Sequence[HorizontalRule], *, gap: float) -> list[HorizontalRule]:
    joined: list[HorizontalRule] = []
    dashed = False
    for rule in rules:
        last = joined[-1] if joined else None
        short = rule.width < _DASH
        if last and rule.x0 - last.x1 <= (_DASH if dashed and short else gap):
            joined[-1] = HorizontalRule(last.x0, max(last.x1, rule.x1), last.y)
            dashed = dashed and short
        else:
            joined.append(rule)
            dashed = short
    return joined
