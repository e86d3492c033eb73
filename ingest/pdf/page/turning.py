"""Turning a page by quarter turns, so that text which runs down, up or upside down stands upright, and back again.

`turns` counts the quarter turns clockwise of the text that is to stand upright (`Char.direction`); the page itself is
turned the other way. Turning by `-turns` what was turned by `turns` gives it back; `width` and `height` are always
those of the page before it is turned.
"""

from dataclasses import replace

from ingest.pdf.backend import HorizontalRule, PageContent, VerticalRule
from paperscope.types import Box

__all__ = ["as_seen", "quarter_turns", "turned", "turned_box", "turned_point", "turned_size"]

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


def as_seen(box: Box, page: PageContent) -> Box:
    """A box of a page that may have been turned for reading, on the page as the reader sees it."""
    return turned_box(box, page.width, page.height, turns=-page.turns)


def turned(page: PageContent, *, turns: int) -> PageContent:
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
