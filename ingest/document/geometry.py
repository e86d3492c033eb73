"""Quarter turns of a page, and what its strokes are: rules and filled boxes."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ingest.document.pages import HorizontalRule, PageContent, VerticalRule
from paperscope_core.types import Box

__all__ = [
    "Shape",
    "SortedShapes",
    "box_as_seen",
    "join_rules",
    "quarter_turns",
    "reading_views",
    "sort_shapes",
    "turned_box",
    "turned_page",
    "turned_point",
    "turned_size",
    "turns_at",
]


# The cosine of 8 degrees: a page that was scanned or set slightly askew still reads upright.
_ALONG = 0.99


def quarter_turns(dx: float, dy: float) -> int | None:
    """The quarter turns clockwise of a line that runs along a unit vector (y downwards), None at another angle."""
    along = (dx, dy, -dx, -dy)
    return next((turns for turns in range(4) if along[turns] > _ALONG), None)


def turned_size(width: float, height: float, *, turns: int) -> tuple[float, float]:
    """Width and height of the page once it is turned."""
    return (height, width) if turns % 2 else (width, height)


def turned_point(x: float, y: float, width: float, height: float, *, turns: int) -> tuple[float, float]:
    """Where a point of the page lies once it is turned."""
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
    """Where a box of the page lies once it is turned."""
    if turns % 4 == 0:
        return box
    x0, y0 = turned_point(box.x0, box.y0, width, height, turns=turns)
    x1, y1 = turned_point(box.x1, box.y1, width, height, turns=turns)
    return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def box_as_seen(box: Box, page: PageContent) -> Box:
    """A box of a page that may have been turned for reading, on the page as the reader sees it."""
    return turned_box(box, page.width, page.height, turns=-page.turns)


def turned_page(page: PageContent, *, turns: int) -> PageContent:
    """The page turned so that text of the direction `turns` stands upright."""
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


_LEAST_SHARE = 0.2
_WHOLE_SHARE = 0.8
_LEAST_CHARS = 200
_CAPTION = re.compile(r"(Table|Tab\.|Figure|Fig\.)[A-Z]{0,2}\.?\d", re.IGNORECASE)
_SAME_BASELINE = 0.6


def reading_views(page: PageContent) -> list[PageContent]:
    """The page turned each way in which it is read, the one with most text first; at least one.

    Text that runs sideways is read where it fills the page or holds a caption, and else left alone: labels of axes,
    stamps at the margin. So is the running head above a sideways table.
    """
    counts = Counter(char.direction for char in page.chars)
    read = [turns for turns, count in counts.most_common() if _is_read(page, turns, count)]
    return [replace(turned_page(page, turns=turns), turns=turns) for turns in read or [0]]


def _is_read(page: PageContent, turns: int, count: int) -> bool:
    share = count / len(page.chars)
    if turns == 0:
        return share >= _LEAST_SHARE
    return (share >= _WHOLE_SHARE and count >= _LEAST_CHARS) or _holds_caption(page, turns)


def _holds_caption(page: PageContent, turns: int) -> bool:
    chars = [char for char in page.chars if char.direction == turns]
    chars.sort(key=lambda char: (round(char.baseline / _SAME_BASELINE), char.x0))
    return bool(_CAPTION.search("".join(char.text for char in chars)))


def turns_at(views: Sequence[PageContent], box: Box) -> int:
    """The quarter turns at which a box of a page, as the reader sees it, is read: those of most letters in it."""
    if len(views) == 1:
        return views[0].turns
    return max(views, key=lambda view: _letters_in(view, box)).turns


def _letters_in(view: PageContent, box: Box) -> int:
    x0, y0, x1, y1 = turned_box(box, *turned_size(view.width, view.height, turns=view.turns), turns=view.turns)
    return sum(x0 <= char.x0 <= x1 and y0 <= char.baseline <= y1 for char in view.upright)


_THIN = 2.0
_SHORT = 8.0
_ABUTTING = 1.5
_LEVEL = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A straight stroke or a rectangle; `filled` is true for a rectangle filled with something else than white."""

    box: Box
    filled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SortedShapes:
    """A page's shapes by what they are to a reader; rectangles give their four sides too."""

    horizontal: tuple[HorizontalRule, ...]
    vertical: tuple[VerticalRule, ...]
    fills: tuple[Box, ...]


def sort_shapes(shapes: Iterable[Shape]) -> SortedShapes:
    """A thin shape is a rule whichever way it was drawn; segments of one line become one rule."""
    horizontal: list[HorizontalRule] = []
    vertical: list[VerticalRule] = []
    fills: list[Box] = []
    for shape in shapes:
        x0, y0, x1, y1 = shape.box
        width, height = x1 - x0, y1 - y0
        if height <= _THIN and width > height:
            horizontal.append(HorizontalRule(x0, x1, (y0 + y1) / 2))
        elif width <= _THIN:
            vertical.append(VerticalRule((x0 + x1) / 2, y0, y1))
        elif shape.filled:
            fills.append(shape.box)
    return SortedShapes(
        horizontal=tuple(rule for rule in join_rules(horizontal) if rule.x1 - rule.x0 > 5),
        vertical=tuple(rule for rule in _join_vertical(vertical) if rule.y1 - rule.y0 > 5),
        fills=tuple(fills),
    )


def join_rules(rules: Sequence[HorizontalRule]) -> list[HorizontalRule]:
    """Join rules at one height that abut (a border drawn cell by cell) or are dashes; gaps that are meant stay."""
    levels: list[list[HorizontalRule]] = []
    for rule in sorted(rules, key=lambda rule: rule.y):
        if levels and rule.y - levels[-1][-1].y < _LEVEL:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    return [rule for level in levels for rule in _join_level(sorted(level, key=lambda rule: rule.x0))]


def _join_level(rules: Sequence[HorizontalRule]) -> list[HorizontalRule]:
    joined: list[HorizontalRule] = []
    dash = False
    for rule in rules:
        last = joined[-1] if joined else None
        short = rule.x1 - rule.x0 < _SHORT
        if last and rule.x0 - last.x1 <= (_SHORT if dash and short else _ABUTTING):
            joined[-1] = HorizontalRule(last.x0, max(last.x1, rule.x1), last.y)
            dash = dash and short
        else:
            joined.append(rule)
            dash = short
    return joined


def _join_vertical(rules: Sequence[VerticalRule]) -> list[VerticalRule]:
    turned = join_rules([HorizontalRule(rule.y0, rule.y1, rule.x) for rule in rules])
    return [VerticalRule(rule.y, rule.x0, rule.x1) for rule in turned]
