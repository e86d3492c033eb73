"""Reading order on a page: bands between items over several columns, column by column within a band."""

from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from paperscope.types import Box

__all__ = ["crosses", "reading_order"]

Item = TypeVar("Item")
_REACH = 15.0


def crosses(box: Box, gutter: float) -> bool:
    """Whether a box stands on both sides of a gutter."""
    return box.x0 < gutter - _REACH and box.x1 > gutter + _REACH


def reading_order(items: Iterable[Item], *, box: Callable[[Item], Box], gutters: Sequence[float]) -> list[Item]:
    """Items in the order in which they are read; `gutters` are the x between columns, none for one column."""
    placed = sorted(items, key=lambda item: (round(box(item).y1), box(item).x0))
    if not gutters:
        return placed
    ordered: list[Item] = []
    band: list[Item] = []
    for item in placed:
        if any(crosses(box(item), gutter) for gutter in gutters):
            earlier = [other for other in band if box(other).y0 < (box(item).y0 + box(item).y1) / 2]
            ordered.extend(_by_column(earlier, box=box, gutters=gutters))
            ordered.append(item)
            band = [other for other in band if other not in earlier]
        else:
            band.append(item)
    return ordered + _by_column(band, box=box, gutters=gutters)


def _by_column(items: list[Item], *, box: Callable[[Item], Box], gutters: Sequence[float]) -> list[Item]:
    return sorted(items, key=lambda item: bisect(gutters, (box(item).x0 + box(item).x1) / 2))
