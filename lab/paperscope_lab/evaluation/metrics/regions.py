"""Places against gold regions: whether they meet, and how much of a region they cover."""

from collections.abc import Iterable
from itertools import pairwise

from ingest.document.geometry import intersection
from paperscope_core.types import Box, Place

__all__ = ["area", "covered_share", "jaccard", "meets", "shared_area"]

_HALF = 0.5


def area(box: Box) -> float:
    """Return the area of a box."""
    return box.width * box.height


def shared_area(one: Box, other: Box) -> float:
    """Return the area of the intersection of two boxes."""
    shared = intersection(one, other)
    return max(shared.width, 0.0) * max(shared.height, 0.0)


def jaccard(one: Box, other: Box) -> float:
    """Return the area of the intersection divided by the area of the union; 0 for boxes without an area."""
    shared = shared_area(one, other)
    both = area(one) + area(other) - shared
    return shared / both if both > 0 else 0.0


def meets(place: Place, region: Place) -> bool:
    """Return whether the overlap of a place and a gold region is at least half of the smaller one."""
    if (place.paper, place.page) != (region.paper, region.page):
        return False
    return shared_area(place.box, region.box) >= _HALF * min(area(place.box), area(region.box)) > 0


def covered_share(region: Place, places: Iterable[Place]) -> float:
    """Return the share of a region's area (0 to 1) inside any of the places."""
    parts = [
        intersection(place.box, region.box)
        for place in places
        if (place.paper, place.page) == (region.paper, region.page)
    ]
    parts = [part for part in parts if part.width > 0 and part.height > 0]
    covered = 0.0
    for left, right in pairwise(sorted({x for part in parts for x in (part.x0, part.x1)})):
        bottom = region.box.y0
        for part in sorted((part for part in parts if part.x0 <= left and right <= part.x1), key=lambda part: part.y0):
            covered += (right - left) * max(part.y1 - max(part.y0, bottom), 0.0)
            bottom = max(bottom, part.y1)
    whole = area(region.box)
    return covered / whole if whole else 0.0
