"""Places against gold regions: whether they meet, and how much of a region they cover."""

from collections.abc import Iterable
from itertools import pairwise

from ingest.document.geometry import intersection
from paperscope_core.types import Place

__all__ = ["covered_share", "meets"]

_HALF = 0.5


def meets(place: Place, region: Place) -> bool:
    """Whether the overlap of a place and a gold region is at least half of the smaller one."""
    if (place.paper, place.page) != (region.paper, region.page):
        return False
    shared = intersection(place.box, region.box)
    areas = [box.width * box.height for box in (place.box, region.box)]
    return max(shared.width, 0.0) * max(shared.height, 0.0) >= _HALF * min(areas) > 0


def covered_share(region: Place, places: Iterable[Place]) -> float:
    """The share of a region's area (0 to 1) inside any of the places."""
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
    area = region.box.width * region.box.height
    return covered / area if area else 0.0
