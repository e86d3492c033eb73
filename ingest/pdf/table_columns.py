"""The columns of a table, as intervals of x."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from ingest.pdf.table_rows import PrintedRow

__all__ = ["Columns", "columns_of", "partition"]

_TOUCHING = 0.15


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


def columns_of(rows: Sequence[PrintedRow], *, em: float, verticals: Sequence[float]) -> Columns:
    """The columns that the fuller rows agree on, and those that only other rows or vertical rules show.

    The fullest rows come first; a segment over two columns is a span and says nothing, unless most rows have it so.
    """
    fullest = max(len(row.segments) for row in rows)
    full = [row for row in rows if len(row.segments) >= max(2, 0.6 * fullest)] or list(rows)
    several = [row for row in rows if len(row.segments) > 1] or list(rows)
    intervals: list[tuple[float, float]] = []
    for row in sorted(full, key=lambda row: -len(row.segments)):
        for segment in row.segments:
            _take_in(intervals, segment.box.x0, segment.box.x1, em=em)
    intervals = _without_spurious(sorted(intervals), several, em=em)
    spots = [(segment.box.x0, segment.box.x1) for row in rows for segment in row.segments]
    ruled = [(left, right) for left, right in pairwise(verticals) if right - left > 6]
    for x0, x1 in [*spots, *ruled]:
        if not _hits(intervals, x0, x1, em=em):
            intervals.append((x0, x1))
    return Columns(intervals=tuple(sorted(intervals)), em=em)


def _take_in(intervals: list[tuple[float, float]], x0: float, x1: float, *, em: float) -> None:
    hits = _hits(intervals, x0, x1, em=em)
    if not hits:
        intervals.append((x0, x1))
    elif len(hits) == 1:
        left, right = intervals[hits[0]]
        intervals[hits[0]] = (min(left, x0), max(right, x1))


def _hits(intervals: Sequence[tuple[float, float]], x0: float, x1: float, *, em: float) -> list[int]:
    least = min(_TOUCHING * em, 0.5 * (x1 - x0))
    return [index for index, (left, right) in enumerate(intervals) if min(x1, right) - max(x0, left) > least]


def _without_spurious(
    intervals: list[tuple[float, float]], rows: Sequence[PrintedRow], *, em: float
) -> list[tuple[float, float]]:
    """Merge neighbours that more rows bridge than keep apart."""
    merged = intervals[:1]
    for interval in intervals[1:]:
        pair = [merged[-1], interval]
        hits = [[_hits(pair, segment.box.x0, segment.box.x1, em=em) for segment in row.segments] for row in rows]
        bridging = sum([0, 1] in row for row in hits)
        parting = sum([0] in row and [1] in row for row in hits)
        if bridging > parting or interval[0] < merged[-1][0] + 0.5 * em:
            merged[-1] = (min(merged[-1][0], interval[0]), max(merged[-1][1], interval[1]))
        else:
            merged.append(interval)
    return merged


def partition(centers: Sequence[float], columns: Columns, *, first: int) -> list[tuple[int, int]] | None:
    """Share the columns from `first` on among centred group titles, each over neighbours; None if none fits well."""
    end = len(columns)

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
