"""The gutters between the columns of a page, and the reading order across them."""

from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import TypeVar

from ingest.pdf.words import Word
from paperscope_core.types import Box

__all__ = ["crosses", "find_gutters", "reading_order"]


_STEPS = 200
_MOST_COLUMNS = 5
_EMPTY = 0.25
_SHALLOW = 0.1
_NEAR = 0.04
_PROSE = 2.5
_ROWS = 12
_RUN = 6


def find_gutters(pages: Sequence[tuple[float, Sequence[Word]]]) -> list[tuple[float, ...]]:
    """The x of each page's gutters, none on a page of one column; a page is its width and its words.

    A page whose full-width tables hide the gutters takes the document's, if most of its lines break there. More than
    two columns must show on half of the pages: a table of equal columns looks like them.
    """
    own = [_middle_gutter(words, width=width) for width, words in pages]
    many = [
        () if found else _even_gutters(words, width=width) for found, (width, words) in zip(own, pages, strict=True)
    ]
    if 2 * sum(bool(found) for found in many) >= len(pages):
        own = [found or others for found, others in zip(own, many, strict=True)]
    shown = [found for found in own if found]
    if not shown or 2 * len(shown) < len(pages):
        return own
    count = round(median(len(found) for found in shown))
    alike = [found for found in shown if len(found) == count]
    common = tuple(median(xs) for xs in zip(*alike, strict=True))
    return [
        found or (common if all(_breaks_at(words, x) or _breaks_below(words, x) for x in common) else ())
        for found, (_, words) in zip(own, pages, strict=True)
    ]


def _cover(words: Sequence[Word], *, width: float) -> list[int]:
    """How many words stand over each of the steps from the left to the right edge of a page."""
    cover = [0] * _STEPS
    for word in words:
        first = max(0, int(word.x0 / width * _STEPS))
        last = min(_STEPS - 1, int(word.x1 / width * _STEPS))
        for step in range(first, last + 1):
            cover[step] += 1
    return cover


def _middle_gutter(words: Sequence[Word], *, width: float) -> tuple[float, ...]:
    """The middle of the emptiest vertical strip around the page's middle, if it is far emptier than its sides."""
    cover = _cover(words, width=width)
    low, high = int(0.42 * _STEPS), int(0.58 * _STEPS)
    side = median(cover[int(0.15 * _STEPS) : int(0.4 * _STEPS)] + cover[int(0.6 * _STEPS) : int(0.85 * _STEPS)])
    valley = _valley(cover, low, high, side=side)
    return () if valley is None else ((valley + 0.5) / _STEPS * width,)


def _valley(cover: Sequence[int], low: int, high: int, *, side: float) -> int | None:
    """The middle of the emptiest steps from `low` to `high`, None if they aren't far emptier than `side`.

    Of several valleys the widest counts: the gap behind the numbers of a list may be emptier than the gutter.
    """
    least = min(cover[low:high])
    if not side or least > _EMPTY * side:
        return None
    runs: list[list[int]] = [[]]
    for step in range(low, high):
        if cover[step] <= least + _SHALLOW * side:
            runs[-1].append(step)
        else:
            runs.append([])
    widest = max(runs, key=len)
    depth = min(cover[step] for step in widest)
    empty = [step for step in widest if cover[step] <= depth + 0.02 * side]
    return empty[len(empty) // 2]


def _even_gutters(words: Sequence[Word], *, width: float) -> tuple[float, ...]:
    """The gutters of three columns or more of equal width, set in running text."""
    rows = len({round(word.baseline) for word in words})
    if rows < _ROWS:
        return ()
    cover = _cover(words, width=width)
    inked = [step for step, count in enumerate(cover) if count > 0.1 * rows]
    if not inked:
        return ()
    left, extent = inked[0], inked[-1] - inked[0] + 1
    side = median(cover[step] for step in range(left, left + extent))
    near = max(2, round(_NEAR * extent))
    for columns in range(3, _MOST_COLUMNS + 1):
        middles = [left + round(extent * part / columns) for part in range(1, columns)]
        valleys = [_valley(cover, middle - near, middle + near + 1, side=side) for middle in middles]
        found = [(valley + 0.5) / _STEPS * width for valley in valleys if valley is not None]
        if len(found) == columns - 1 and all(_breaks_at(words, x) for x in found) and _is_prose(words, found):
            return tuple(found)
    return ()


def _is_prose(words: Sequence[Word], gutters: Sequence[float]) -> bool:
    """Whether the rows between gutters hold several words of letters, as running text does and a table's don't."""
    counts: dict[tuple[int, int], int] = {}
    for word in words:
        key = round(word.baseline), sum(word.center > gutter for gutter in gutters)
        counts[key] = counts.get(key, 0) + any(letter.isalpha() for letter in word.text)
    return median(counts.values()) >= _PROSE


def _breaks_at(words: Sequence[Word], gutter: float) -> bool:
    """Whether at least 40 % of the rows that stand on both sides leave a gap at the gutter."""
    broken = both = 0
    for row in _rows(words):
        left = [word.x1 for word in row if word.center < gutter]
        right = [word.x0 for word in row if word.center >= gutter]
        if left and right:
            both += 1
            broken += min(right) - max(left) > 0.8 * row[0].size and max(left) <= gutter + 6 <= min(right) + 12
    return both > 0 and broken >= 0.4 * both


def _breaks_below(words: Sequence[Word], gutter: float) -> bool:
    """Whether several successive rows of running text on either side leave the gutter free, as under an abstract.

    At the foot of the page one is enough: little text may stand below a large float.
    """
    left = right = 0
    low = False
    for row in _rows(words):
        if any(word.x0 < gutter - 2 and word.x1 > gutter + 2 for word in row) or _is_tight(row, gutter):
            left = right = 0
            low = False
            continue
        sides = [sum(word.text.isalpha() for word in row if (word.center < gutter) == is_left) for is_left in (1, 0)]
        left, right = left + (sides[0] >= _PROSE), right + (sides[1] >= _PROSE)
        if min(left, right) >= _RUN:
            return True
        low = low or min(sides) >= _PROSE
    return low


def _is_tight(row: Sequence[Word], gutter: float) -> bool:
    left = [word.x1 for word in row if word.center < gutter]
    right = [word.x0 for word in row if word.center >= gutter]
    return bool(left and right) and min(right) - max(left) < 0.8 * row[0].size


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """The words by baseline, from top to bottom."""
    rows: dict[int, list[Word]] = {}
    for word in sorted(words, key=lambda word: word.baseline):
        rows.setdefault(round(word.baseline), []).append(word)
    return list(rows.values())


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
