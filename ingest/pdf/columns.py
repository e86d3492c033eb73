"""Finds the gutters between the columns of a page, and sorts text into reading order."""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple, TypeVar

from ingest.document.geometry import overlap_y
from ingest.pdf.pdf_words import Word
from paperscope_core.types import Box

__all__ = ["crosses", "find_gutters", "reading_order"]

Item = TypeVar("Item")

# Chosen on the development papers.
_STEPS = 200  # Vertical strips of a page; one is 3 pt wide on A4, and a gutter at least 10 pt.
_MIDDLE = (0.42, 0.58)  # The part of the page's width that contains the gutter of two columns.
_SIDES = ((0.15, 0.4), (0.6, 0.85))  # The parts of the page's width that contain text of both columns.
_EMPTY_SHARE = 0.25  # The most words in a strip of a gutter, as a share of the usual number in a strip.
_SHALLOW_SHARE = 0.1  # Strips with this many more words belong to the same gap.
_DEEP_SHARE = 0.02  # A gap's middle is the middle of its emptiest strips, to within this share.
_MIN_WORDS = 3  # The least number of words in a column's row of running text; table cells have fewer.
_MIN_BROKEN_SHARE = 0.4  # A share of the rows with words on both sides; full-width floats hide the gutter in others.
_MIN_GAP = 0.8  # The least gap of a row at a gutter, in letter sizes.
_SHIFT = 6.0  # The largest distance, in points, between a row's gap and the gutter.
_MIN_RUN = 6  # The least number of consecutive rows that leave the gutter free, as under an abstract.
_CROSSING = 15.0  # Points; text may extend into a gutter by less.
# Measured on 277 pages of papers of many fields: on every page in columns that were not found, more rows, and a larger
# share of them, break at one place that is no gutter; so they do on one in eight of the other pages.
_DOUBT_ROWS, _DOUBT_SHARE, _DOUBT_WIDTH = 6, 0.07, 20.0
_SMALL_PRINT = 0.93  # The largest size of small print, relative to the usual size.
# Regions of text beside each other: the height in points that shows a gutter, less on a page whose document has it; the
# narrowest region; how much more of the text may cross the gutter.
_SURE_HEIGHT, _LEAST_HEIGHT, _SAME_GUTTER, _MIN_REGION, _MAX_CROSSED = 80.0, 20.0, 10.0, 20.0, 2.0


def find_gutters(
    pages: Sequence[tuple[float, Sequence[Word]]], *, regions: Callable[[int], Sequence[Box]] | None = None
) -> list[tuple[float, ...]]:
    """Return the x of each page's gutters, none on a page of one column.

    A page whose full-width floats hide the gutter gets the document's, if most of its lines break there. More than two
    columns are found by regions of text only.

    Args:
        pages: The width and the words of each page.
        regions: Returns the regions of text that a layout model finds on the page of an index; asked only for the first
            page, which may have a sidebar, and for pages whose rows contradict the gutters found.
    """
    found = _gutters_of_words(pages)
    if regions is None:
        return found
    doubtful = {index for index, (_, words) in enumerate(pages) if _is_doubtful(words, found[index])}
    read = {index: _region_gutters(regions(index)) for index in range(len(pages)) if index == 0 or index in doubtful}
    sure = [gap.x for gaps in read.values() for gap in gaps if gap.is_sure]
    for index, gaps in read.items():
        seen = [gap.x for gap in gaps if gap.is_sure or any(abs(gap.x - x) < _SAME_GUTTER for x in sure)]
        if own := tuple(seen) if index in doubtful else _without_small_print(seen, pages[index][1]):
            found[index] = own
    return found


def _without_small_print(gutters: Sequence[float], words: Sequence[Word]) -> tuple[float, ...]:
    """Return the gutters of a page but those of a column of small print at its side, which is a sidebar."""
    if not gutters:
        return ()
    usual = median(word.size for word in words)
    left = [word.size for word in words if word.center < gutters[0]]
    right = [word.size for word in words if word.center > gutters[-1]]
    if left and median(left) < _SMALL_PRINT * usual:
        return _without_small_print(gutters[1:], words)
    if right and median(right) < _SMALL_PRINT * usual:
        return _without_small_print(gutters[:-1], words)
    return tuple(gutters)


def _gutters_of_words(pages: Sequence[tuple[float, Sequence[Word]]]) -> list[tuple[float, ...]]:
    """Return the gutter in the middle of each page, if any, by the words of all pages."""
    own = [_middle_gutter(words, width=width) for width, words in pages]
    shown = [x for found in own for x in found]
    if not shown or 2 * len(shown) < len(pages):
        return own
    common = median(shown)
    return [
        found or ((common,) if _breaks_at(words, common) or _breaks_below(words, common) else ())
        for found, (_, words) in zip(own, pages, strict=True)
    ]


class _Gap(NamedTuple):
    """The white between regions of text: its middle, how much of the page's height has text on either side, and how
    much has text across."""

    x: float
    height: float
    crossed: float

    @property
    def is_sure(self) -> bool:
        """Whether it is a gutter in any document; little text across a long page is between a paper's authors."""
        return self.height > max(_SURE_HEIGHT, self.crossed / _MAX_CROSSED)


def _region_gutters(regions: Sequence[Box]) -> list[_Gap]:
    """Return the gaps between regions of text beside each other, from left to right."""
    boxes = [box for box in regions if box.width > _MIN_REGION]
    gaps = [
        (left.x1, right.x0, height)
        for left in boxes
        for right in boxes
        if left.x1 < right.x0 and (height := overlap_y(left, right)) > 0 and not _any_between(boxes, left, right)
    ]
    found: list[_Gap] = []
    while gaps:
        edges = sorted({edge for x0, x1, _ in gaps for edge in (x0, x1)})
        middles = [(x0 + x1) / 2 for x0, x1 in pairwise(edges)]
        best = max(middles, key=lambda x: sum(height for x0, x1, height in gaps if x0 < x < x1))
        here = [gap for gap in gaps if gap[0] < best < gap[1]]
        height = sum(height for _, _, height in here)
        if height < _LEAST_HEIGHT:
            break
        middle = (max(gap[0] for gap in here) + min(gap[1] for gap in here)) / 2
        across = (box.height for box in boxes if box.x0 < middle - _SHIFT and box.x1 > middle + _SHIFT)
        found.append(_Gap(middle, height, sum(across)))
        gaps = [gap for gap in gaps if gap not in here]
    return sorted(found)


def _any_between(boxes: Sequence[Box], left: Box, right: Box) -> bool:
    top, bottom = max(left.y0, right.y0), min(left.y1, right.y1)
    return any(
        box.x0 < right.x0 and box.x1 > left.x1 and box.y0 < bottom and box.y1 > top
        for box in boxes
        if box not in (left, right)
    )


def _is_doubtful(words: Sequence[Word], gutters: Sequence[float]) -> bool:
    """Return whether many rows of words break at one place that is no gutter."""
    rows = _rows(words)
    breaks: Counter[int] = Counter()
    for row in rows:
        for left, right in pairwise(sorted(row, key=lambda word: word.x0)):
            if right.x0 - left.x1 > _MIN_GAP * left.size and all(any(map(str.isalpha, w.text)) for w in (left, right)):
                breaks.update(range(round(left.x1 / _SHIFT), round(right.x0 / _SHIFT) + 1))
    most = max(
        (count for at, count in breaks.items() if all(abs(at * _SHIFT - x) > _DOUBT_WIDTH for x in gutters)), default=0
    )
    return most > _DOUBT_ROWS and most > _DOUBT_SHARE * len(rows)


def _words_per_strip(words: Sequence[Word], *, width: float) -> list[int]:
    counts = [0] * _STEPS
    for word in words:
        first = max(0, int(word.x0 / width * _STEPS))
        last = min(_STEPS - 1, int(word.x1 / width * _STEPS))
        for strip in range(first, last + 1):
            counts[strip] += 1
    return counts


def _middle_gutter(words: Sequence[Word], *, width: float) -> tuple[float, ...]:
    """Return the middle of the emptiest gap near the page's centre, if it is far emptier than the sides."""
    counts = _words_per_strip(words, width=width)
    sides = [count for low, high in _SIDES for count in counts[int(low * _STEPS) : int(high * _STEPS)]]
    low, high = (int(share * _STEPS) for share in _MIDDLE)
    gap = _gap(counts, low, high, usual=median(sides))
    return () if gap is None else ((gap + 0.5) / _STEPS * width,)


def _gap(counts: Sequence[int], low: int, high: int, *, usual: float) -> int | None:
    """Return the middle of the emptiest strips from `low` to `high`, None if they aren't far emptier than `usual`.

    Of several gaps the widest is used: the gap after the numbers of a list may be emptier than the gutter.
    """
    least = min(counts[low:high])
    if not usual or least > _EMPTY_SHARE * usual:
        return None
    shallow = groupby(range(low, high), key=lambda strip: counts[strip] <= least + _SHALLOW_SHARE * usual)
    widest = max((list(strips) for is_shallow, strips in shallow if is_shallow), key=len)
    depth = min(counts[strip] for strip in widest)
    empty = [strip for strip in widest if counts[strip] <= depth + _DEEP_SHARE * usual]
    return empty[len(empty) // 2]


def _breaks_at(words: Sequence[Word], gutter: float) -> bool:
    """Return whether enough of the rows with words on both sides have a gap at the gutter."""
    broken = both = 0
    for row in _rows(words):
        left, right = _sides(row, gutter)
        if left and right:
            both += 1
            end, start = max(word.x1 for word in left), min(word.x0 for word in right)
            broken += start - end > _MIN_GAP * row[0].size and end - _SHIFT <= gutter <= start + _SHIFT
    return both > 0 and broken >= _MIN_BROKEN_SHARE * both


def _breaks_below(words: Sequence[Word], gutter: float) -> bool:
    """Return whether several successive rows of running text on either side leave the gutter free, as under an
    abstract.

    At the foot of the page one row is enough, since little text may be below a large float.
    """
    left = right = 0
    low = False
    for row in _rows(words):
        sides = _sides(row, gutter)
        if any(word.x0 < gutter - 2 and word.x1 > gutter + 2 for word in row) or _is_tight(row, *sides):
            left = right = 0
            low = False
            continue
        counts = [sum(word.text.isalpha() for word in side) for side in sides]
        left, right = left + (counts[0] >= _MIN_WORDS), right + (counts[1] >= _MIN_WORDS)
        if min(left, right) >= _MIN_RUN:
            return True
        low = low or min(counts) >= _MIN_WORDS
    return low


def _is_tight(row: Sequence[Word], left: Sequence[Word], right: Sequence[Word]) -> bool:
    if not left or not right:
        return False
    return min(word.x0 for word in right) - max(word.x1 for word in left) < _MIN_GAP * row[0].size


def _sides(row: Sequence[Word], gutter: float) -> tuple[list[Word], list[Word]]:
    return [word for word in row if word.center < gutter], [word for word in row if word.center >= gutter]


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words by baseline, from top to bottom."""
    ordered = sorted(words, key=lambda word: word.baseline)
    return [list(row) for _, row in groupby(ordered, key=lambda word: round(word.baseline))]


def crosses(box: Box, gutter: float) -> bool:
    """Return whether a box is on both sides of a gutter."""
    return box.x0 < gutter - _CROSSING and box.x1 > gutter + _CROSSING


def reading_order(items: Iterable[Item], *, box: Callable[[Item], Box], gutters: Sequence[float]) -> list[Item]:
    """Sort items into reading order: column by column, in bands between items that cross a gutter.

    Of three columns, those right of a gutter that no item crosses are read after everything left of it; otherwise the
    items that cross the most gutters separate bands.
    """
    placed = sorted(items, key=lambda item: (round(box(item).y1), box(item).x0))
    crossed = {id(item): sum(crosses(box(item), gutter) for gutter in gutters) for item in placed}
    most = max(crossed.values(), default=0)
    free = [gutter for gutter in gutters if not any(crosses(box(item), gutter) for item in placed)]
    if free:
        columns: list[list[Item]] = [[] for _ in range(len(free) + 1)]
        for item in placed:
            columns[bisect(free, (box(item).x0 + box(item).x1) / 2)].append(item)
        inner = [gutter for gutter in gutters if gutter not in free]
        return [item for column in columns for item in reading_order(column, box=box, gutters=inner)]
    if not most:
        return placed
    ordered: list[Item] = []
    band: list[Item] = []
    for item in placed:
        if crossed[id(item)] == most:
            earlier = [other for other in band if box(other).y0 < (box(item).y0 + box(item).y1) / 2]
            ordered.extend(reading_order(earlier, box=box, gutters=gutters))
            ordered.append(item)
            band = [other for other in band if other not in earlier]
        else:
            band.append(item)
    return ordered + reading_order(band, box=box, gutters=gutters)
