"""Reading order on a page: bands between full-width items, column by column within a band."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from paperscope.types import Box

__all__ = ["reading_order"]

Item = TypeVar("Item")


def reading_order(items: Iterable[Item], *, box: Callable[[Item], Box], gutter: float | None) -> list[Item]:
    """Items in the order in which they are read; `gutter` is the x between two columns, None for one column."""
    placed = sorted(items, key=lambda item: (round(box(item).y1), box(item).x0))
    if gutter is None:
        return placed
    ordered: list[Item] = []
    band: list[Item] = []
    for item in placed:
        if box(item).x0 < gutter - 15 and box(item).x1 > gutter + 15:
            earlier = [other for other in band if box(other).y0 < (box(item).y0 + box(item).y1) / 2]
            ordered.extend(_by_column(earlier, box=box, gutter=gutter))
            ordered.append(item)
            band = [other for other in band if other not in earlier]
        else:
            band.append(item)
    return ordered + _by_column(band, box=box, gutter=gutter)


def _by_column(items: list[Item], *, box: Callable[[Item], Box], gutter: float) -> list[Item]:
    return sorted(items, key=lambda item: (box(item).x0 + box(item).x1) / 2 >= gutter)
