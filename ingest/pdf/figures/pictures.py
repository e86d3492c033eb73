"""Pictures that no caption names."""

from collections import Counter
from collections.abc import Sequence

from ingest.pdf.page.layout import PageLayout
from paperscope.types import Box

__all__ = ["lone_pictures", "repeated_pictures"]

_LEAST_SIDE = 80.0
_LEAST_SHARE = 0.02
_MOST_SHARE = 0.6


def repeated_pictures(layouts: Sequence[PageLayout]) -> frozenset[Box]:
    """The boxes of pictures that come again at the same spot on another page: decoration."""
    counts = Counter(spot for layout in layouts for spot in {box.rounded() for box in layout.content.images})
    return frozenset(spot for spot, count in counts.items() if count > 1)


def lone_pictures(layout: PageLayout, images: Sequence[Box], others: Sequence[Box]) -> list[Box]:
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
