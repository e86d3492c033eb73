"""The columns of a table, as intervals of x."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from ingest.pdf.tables.rows import PrintedRow
from ingest.pdf.tables.strips import Strip

__all__ = ["Columns", "columns_of", "partition", "strips_at"]

_HALF = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Intervals (left, right) in order; `em` is the table's letter size."""

    intervals: tuple[tuple[float, float], ...]
    em: float

    def __len__(self) -> int:
        return len(self.intervals)

    def span(self, x0: float, x1: float) -> tuple[int, int]:
        """The first and last column that a text from x0 to x1 touches, or the nearest column twice."""
        hits = [
            index
            for index, (left, right) in enumerate(self.intervals)
            if min(x1, right) - max(x0, left) > 0.15 * self.em
        ]
        if hits:
            return hits[0], hits[-1]
        middle = (x0 + x1) / 2
        nearest = min(range(len(self)), key=lambda index: abs(self.center(index, index) - middle))
        return nearest, nearest

    def nearest(self, x0: float, x1: float) -> int:
        """The first column of which a text from x0 to x1 covers half, else the one of which it covers most."""
        shared = [
            (min(x1, right) - max(x0, left)) / max(min(right - left, x1 - x0), 1.0) for left, right in self.intervals
        ]
        best = max(range(len(self)), key=lambda index: shared[index])
        if shared[best] <= 0:
            return self.span(x0, x1)[0]
        return next((index for index, share in enumerate(shared) if share >= _HALF), best)

    def within(self, x0: float, x1: float) -> list[int]:
        """The columns that a rule from x0 to x1 covers."""
        return [
            index
            for index, (left, right) in enumerate(self.intervals)
            if (left >= x0 - 4 and right <= x1 + 4) or x0 <= (left + right) / 2 <= x1
        ]

    def center(self, first: int, last: int) -> float:
        """The x of the middle of columns first to last."""
        return (self.intervals[first][0] + self.intervals[last][1]) / 2


def columns_of(rows: Sequence[PrintedRow], strips: Sequence[Strip], *, em: float) -> Columns:
    """The columns between strips: from the first to the last ink of what stands in one column alone."""
    bounds = [float("-inf"), *(strip.middle for strip in strips), float("inf")]
    segments = [segment.box for row in rows for segment in row.segments]
    words = [word.box for row in rows for segment in row.segments for word in segment.words]
    intervals = []
    for left, right in pairwise(bounds):
        inside = [box for box in segments if left <= box.x0 and box.x1 <= right]
        inside = inside or [box for box in words if left <= box.x0 and box.x1 <= right]
        inside = inside or [box for box in words if left <= (box.x0 + box.x1) / 2 < right]
        if inside:
            intervals.append((min(box.x0 for box in inside), max(box.x1 for box in inside)))
    return Columns(intervals=tuple(intervals), em=em)


def strips_at(edges: Sequence[float], rows: Sequence[PrintedRow]) -> list[Strip]:
    """Strips without width at the edges between columns; one that would leave a column without words is left out."""
    centers = [word.center for row in rows for segment in row.segments for word in segment.words]
    strips: list[Strip] = []
    left = float("-inf")
    for x in sorted(edges):
        if any(left <= center < x for center in centers) and any(center >= x for center in centers):
            strips.append(Strip(x0=x, x1=x))
            left = x
    return strips


def partition(
    centers: Sequence[float], columns: Columns, *, first: int, end: int | None = None
) -> list[tuple[int, int]] | None:
    """Share the columns from `first` on, up to `end`, among centred group titles, each over neighbours; None if none
    fits well."""
    end = len(columns) if end is None else end

    @cache
    def best(column: int, title: int) -> tuple[float, tuple[tuple[int, int], ...]]:
        if title == len(centers):
            return (0.0, ()) if column == end else (float("inf"), ())
        choices = []
        for last in range(column, end - (len(centers) - title - 1)):
            cost, rest = best(last + 1, title + 1)
            choices.append((cost + abs(columns.center(column, last) - centers[title]), ((column, last), *rest)))
        return min(choices, default=(float("inf"), ()))

    if end - first < len(centers):
        return None
    cost, groups = best(first, 0)
    return list(groups) if cost / len(centers) < 6 else None
