"""Finds the columns of a table: the empty strips between them, and rows split at the strips."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, pairwise
from math import inf

from ingest.document.cell_values import is_value
from ingest.pdf.lines import Line, line_of
from ingest.pdf.pdf_words import Word
from ingest.pdf.tables.table_values import PrintedRow

__all__ = ["Columns", "Strip", "columns_of", "cut_at_strips", "partition", "strips_at", "strips_of"]

# In letter sizes of the table unless said otherwise; chosen on the development papers.
_MIN_STRIP = 0.15  # Narrower stretches are gaps between letters.
_MIN_TOUCH = 0.15  # A text touches a column if they overlap by this.
_SEPARATING_GAP = 0.45  # Larger than a word space.
_STRONG_GAP = 1.0  # Separates columns even before brackets and after commas.
_MAX_CROSSED_SHARE = 0.2  # The largest share of rows that cross a strip; titles and spanning cells do.
_ALIGNED = 0.3  # The tolerance within which words are aligned left, right or centred in their column.
_EXACT = 0.05  # The same, except for rounding, if the typesetter aligned them by their columns.
_MAX_JUSTIFIED_GAP = 1.5  # A wider gap is not a space of justified text.
_EVEN = 0.02  # The largest difference between spaces of one justified line.
_INK_GAP = 0.1  # Words closer than this count as one stretch of ink.
_HALF, _MOST = 0.5, 0.75  # Shares of a width.
_RULE_OVERHANG = 4.0  # Points by which a column may extend beyond the rule over it.
_MAX_PARTITION_COST = 6.0  # Points; the largest mean distance of titles from the centres of their columns.


@dataclass(frozen=True, kw_only=True, slots=True)
class Strip:
    """An interval of x without ink in most rows."""

    x0: float
    x1: float

    @property
    def middle(self) -> float:
        """The x of the middle."""
        return (self.x0 + self.x1) / 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Intervals (left, right) in order; `em` is the table's letter size."""

    intervals: tuple[tuple[float, float], ...]
    em: float

    def __len__(self) -> int:
        return len(self.intervals)

    def span(self, x0: float, x1: float) -> tuple[int, int]:
        """Return the first and last column that a text from x0 to x1 touches, or the nearest one twice."""
        hits = [
            index
            for index, (left, right) in enumerate(self.intervals)
            if min(x1, right) - max(x0, left) > _MIN_TOUCH * self.em
        ]
        if hits:
            return hits[0], hits[-1]
        middle = (x0 + x1) / 2
        nearest = min(range(len(self)), key=lambda index: abs(self.center(index, index) - middle))
        return nearest, nearest

    def holding(self, x0: float, x1: float) -> int | None:
        """Return the column that holds most of a text, None if none does."""
        held = [min(x1, right) - max(x0, left) > _MOST * (x1 - x0) for left, right in self.intervals]
        return held.index(True) if True in held else None

    def nearest(self, x0: float, x1: float) -> int:
        """Return the first column of which a text from x0 to x1 covers half, otherwise the one it covers most."""
        shared = [
            (min(x1, right) - max(x0, left)) / max(min(right - left, x1 - x0), 1.0) for left, right in self.intervals
        ]
        best = max(range(len(self)), key=lambda index: shared[index])
        if shared[best] <= 0:
            return self.span(x0, x1)[0]
        return next((index for index, share in enumerate(shared) if share >= _HALF), best)

    def within(self, x0: float, x1: float) -> list[int]:
        """Return the columns that a rule from x0 to x1 covers."""
        return [
            index
            for index, (left, right) in enumerate(self.intervals)
            if (left >= x0 - _RULE_OVERHANG and right <= x1 + _RULE_OVERHANG) or x0 <= (left + right) / 2 <= x1
        ]

    def edge(self, column: int) -> float:
        """Return the x halfway between a column and the one before it."""
        return (self.intervals[column - 1][1] + self.intervals[column][0]) / 2

    def center(self, first: int, last: int) -> float:
        """Return the x of the middle of columns first to last."""
        return (self.intervals[first][0] + self.intervals[last][1]) / 2


def columns_of(rows: Sequence[PrintedRow], strips: Sequence[Strip], *, em: float) -> Columns:
    """Return the columns between strips, each from the first to the last ink that belongs to it alone."""
    bounds = [float("-inf"), *(strip.middle for strip in strips), float("inf")]
    segments = [segment.box for row in rows for segment in row.segments]
    words = [word.box for row in rows for word in row.words]
    intervals = []
    for left, right in pairwise(bounds):
        inside = [box for box in segments if left <= box.x0 and box.x1 <= right]
        inside = inside or [box for box in words if left <= box.x0 and box.x1 <= right]
        inside = inside or [box for box in words if left <= (box.x0 + box.x1) / 2 < right]
        if inside:
            intervals.append((min(box.x0 for box in inside), max(box.x1 for box in inside)))
    return Columns(intervals=tuple(intervals), em=em)


def strips_at(edges: Sequence[float], rows: Sequence[PrintedRow]) -> list[Strip]:
    """Return zero-width strips at the edges between columns, except where a column would have no words."""
    centers = [word.center for row in rows for word in row.words]
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
    """Assign the columns from `first` up to `end` to centred group titles, each over adjacent columns.

    Returns:
        The first and last column of each title; None if no partition fits well.
    """
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
    return list(groups) if cost / len(centers) < _MAX_PARTITION_COST else None


def strips_of(rows: Sequence[PrintedRow], *, em: float, verticals: Sequence[float] = ()) -> list[Strip]:
    """Return the strips between columns, from left to right.

    A strip is a stretch of x that fewer rows cover with ink than its neighbours on both sides. It separates columns if
    few rows cross it, and most rows with text on both sides have more than a word space there.
    """
    titles = [row for row in rows if len(row.segments) == 1 or _is_one_text(row, em=em)]
    several = [_words(row) for row in rows if row not in titles] or [_words(row) for row in rows]
    strips = _separating_strips(several, em=em)
    inked = [*several, *(words for row in titles if _fits(words := _words(row), strips))]
    strips = _separating_strips(inked, em=em)
    left, right = min(row[0].x0 for row in inked), max(word.x1 for row in inked for word in row)
    for x in verticals:
        line = Strip(x0=x, x1=x)
        clear = not any(strip.x0 - 2 <= x <= strip.x1 + 2 for strip in strips)
        if clear and left < x < right and _crossing(line, inked) <= _MAX_CROSSED_SHARE * len(inked):
            strips.append(line)
    return sorted(strips, key=lambda strip: strip.x0)


def _words(row: PrintedRow) -> list[Word]:
    return sorted(row.words, key=lambda word: word.x0)


def _is_one_text(row: PrintedRow, *, em: float) -> bool:
    """Return whether a row has words at word spaces and few values: a title, whose spaces may be wider than usual."""
    words = _words(row)
    gaps = [second.x0 - first.x1 for first, second in pairwise(words)]
    return max(gaps) < _SEPARATING_GAP * em and 3 * sum(is_value(word.text) for word in words) < len(words)


def _fits(row: Sequence[Word], strips: Sequence[Strip]) -> bool:
    """Return whether a row without a wide gap is in one column, or has a gap in each strip and a text in each
    column."""
    if len({zone for word in row for zone in _zones(word, strips)}) == 1:
        return True
    gaps = [(first.x1, second.x0) for first, second in pairwise(row)]
    return all(any(left < strip.x1 and right > strip.x0 for left, right in gaps) for strip in strips)


def _separating_strips(rows: Sequence[Sequence[Word]], *, em: float) -> list[Strip]:
    strips: list[Strip] = []
    for strip in sorted(_minima(rows, em=em), key=lambda strip: (_crossing(strip, rows), strip.x0 - strip.x1)):
        if _separates(strip, rows, strips, em=em):
            strips.append(strip)
    return strips


def _minima(rows: Sequence[Sequence[Word]], *, em: float) -> list[Strip]:
    """Return the stretches that fewer rows cover than both neighbouring stretches."""
    changes: Counter[float] = Counter()
    for row in rows:
        for x0, x1 in _ink(row):
            changes[x0] += 1
            changes[x1] -= 1
    levels: list[tuple[float, int]] = []
    level = 0
    for x, after in pairwise([*sorted(changes), inf]):
        level += changes[x]
        # A gap of rounding between the ink of two rows is none.
        if (not levels or levels[-1][1] != level) and (after - x > _MIN_STRIP * em or not levels):
            levels.append((x, level))
    return [
        Strip(x0=x, x1=after)
        for (_, before), (x, here), (after, later) in zip(levels, levels[1:], levels[2:], strict=False)
        if here < before and here < later
    ]


def _ink(row: Sequence[Word]) -> list[tuple[float, float]]:
    runs: list[tuple[float, float]] = []
    for word in row:
        if runs and word.x0 <= runs[-1][1] + _INK_GAP * word.size:
            runs[-1] = (runs[-1][0], max(runs[-1][1], word.x1))
        else:
            runs.append((word.x0, word.x1))
    return runs


def _separates(strip: Strip, rows: Sequence[Sequence[Word]], known: Sequence[Strip], *, em: float) -> bool:
    """Return whether a strip separates columns; a gap explained by a known strip is not evidence."""
    around = [sides for row in rows if (sides := _sides(strip, row))]
    open_sides = [
        (left, right)
        for left, right in around
        if not _is_justified(left, right, em=em)
        and not any(left[-1].x1 <= other.middle <= right[0].x0 for other in known)
    ]
    gaps = [(left[-1], right[0]) for left, right in open_sides]
    crossing = _crossing(strip, rows)
    if not gaps:
        justified = any(_is_justified(left, right, em=em) for left, right in around)
        return crossing == 0 and strip.x1 - strip.x0 > _SEPARATING_GAP * em and not justified
    gaps = [(left[-1], right[0]) for left, right in open_sides if not _is_numbered_name(left, right[0], em=em)]
    separating = sum(_is_separating(left, right, em=em) for left, right in gaps)
    strong = sum(_gap(left, right) > _STRONG_GAP * em or _are_numbers(left, right) for left, right in gaps)
    return 2 * separating >= len(open_sides) and (
        crossing <= _MAX_CROSSED_SHARE * (len(open_sides) + crossing) or strong > crossing
    )


def _sides(strip: Strip, row: Sequence[Word]) -> tuple[list[Word], list[Word]] | None:
    """Return the words left and right of a strip, None if one side is empty or a word crosses the strip."""
    left = [word for word in row if word.x1 <= strip.middle]
    right = [word for word in row if word.x0 >= strip.middle]
    return (left, right) if left and right and len(left) + len(right) >= len(row) else None


def _gap(left: Word, right: Word) -> float:
    return right.x0 - left.x1


def _is_justified(left: Sequence[Word], right: Sequence[Word], *, em: float) -> bool:
    """Return whether a gap is as wide as the one before or after it, as in justified text."""
    gap = _gap(left[-1], right[0])
    if gap > _MAX_JUSTIFIED_GAP * em or is_value(left[-1].text) or is_value(right[0].text):
        return False
    beside = [_gap(first, second) for first, second in (*pairwise(left[-2:]), *pairwise(right[:2]))]
    return any(abs(other - gap) < _EVEN * em for other in beside)


def _is_separating(left: Word, right: Word, *, em: float) -> bool:
    if right.text[0] in "([" or left.text[-1] == "," or "±" in (left.text, right.text):
        return _gap(left, right) > _STRONG_GAP * em
    return _gap(left, right) > _SEPARATING_GAP * em or _are_numbers(left, right)


def _are_numbers(left: Word, right: Word) -> bool:
    """Return whether two values are side by side that are not parts of one, such as `0.3` and `(0.1)` or `[1,` and
    `2]`."""
    return is_value(left.text) and is_value(right.text) and right.text[0] not in "([" and left.text[-1] != ","


def _is_numbered_name(left: Sequence[Word], right: Word, *, em: float) -> bool:
    """Return whether two values are the numbers of a name, such as `Llama 3.1 8B`: word spaces join both to a text."""
    joined = [*left, right]
    for first, second in pairwise(reversed(joined)):
        if _gap(second, first) > _SEPARATING_GAP * em or not is_value(first.text):
            return False
        if not is_value(second.text):
            return True
    return False


def _crossing(strip: Strip, rows: Sequence[Sequence[Word]]) -> int:
    return sum(any(word.x0 < strip.middle < word.x1 for word in row) for row in rows)


def cut_at_strips(row: PrintedRow, strips: Sequence[Strip], columns: Columns, *, named: bool = False) -> PrintedRow:
    """Return the row with segments split that are texts of adjacent columns, and joined within a column.

    `columns` are those between the strips. A row without a wide gap is one title unless it has a word for each column,
    or is known to name columns (`named`).
    """
    words = _words(row)
    widest = max((_gap(first, second) for first, second in pairwise(words)), default=0.0)
    crossed = sum(any(word.x0 < strip.middle < word.x1 for word in words) for strip in strips)
    limit = _STRONG_GAP if crossed > 1 else _SEPARATING_GAP
    close = not named and widest < limit * columns.em
    alone = not named and (close or len(row.segments) == 1)
    size = row.segments[0].size
    parts: list[list[Word]] = []
    zones: list[set[int]] = []
    for segment in [line_of(words, size=size)] if close else row.segments:
        for run in _cut(segment, strips, columns, alone=alone):
            touched = {zone for word in run for zone in _zones(word, strips)}
            if zones and len(touched) == 1 and zones[-1] == touched:
                parts[-1].extend(run)
            else:
                parts.append(list(run))
                zones.append(touched)
    return replace(row, segments=tuple(line_of(part, size=size) for part in parts))


def _cut(segment: Line, strips: Sequence[Strip], columns: Columns, *, alone: bool) -> list[list[Word]]:
    """Return the segment's words by column, if each column that it touches has its own words, aligned as in other
    rows."""
    whole = [list(segment.words)]
    homes = [_zones(word, strips) for word in segment.words]
    if any(len(home) > 1 for home in homes):
        return whole
    grouped = groupby(zip(segment.words, homes, strict=True), key=lambda pair: pair[1][0])
    runs = {home: [word for word, _ in group] for home, group in grouped}
    complete = len(runs) == (len(columns) if alone else homes[-1][0] - homes[0][0] + 1)
    if len(runs) == 1 or not complete:
        return whole
    if any(_is_sign(end.text) for run in runs.values() for end in (run[0], run[-1])):
        return whole
    if any(_is_one_title(left[-1].text, right[0].text) for left, right in pairwise(runs.values())):
        return whole
    spanned = (columns.intervals[homes[0][0]][0], columns.intervals[homes[-1][0]][1])
    # If the text is centred over all its columns, only words that are as exactly aligned are cells.
    centred = _is_centred(segment.words, spanned, em=columns.em)
    tolerance = _EXACT if centred and not any(is_value(word.text) for word in segment.words) else _ALIGNED
    aligned = all(
        _is_aligned(run, columns.intervals[home], tolerance=tolerance * columns.em) for home, run in runs.items()
    )
    return list(runs.values()) if aligned else whole


def _is_one_title(left: str, right: str) -> bool:
    """Return whether a word in small letters follows a capitalised one, as within a title."""
    return left[0].isupper() and right.isalpha() and right.islower() and len(right) > 1


def _is_sign(text: str) -> bool:
    """Return whether a text is an operator, which joins two halves of one text."""
    return not any(letter.isalnum() for letter in text) and not is_value(text)


def _is_aligned(run: Sequence[Word], column: tuple[float, float], *, tolerance: float) -> bool:
    left, right = run[0].x0 - column[0], run[-1].x1 - column[1]
    return min(abs(left), abs(right), abs(left + right) / 2) < tolerance


def _is_centred(run: Sequence[Word], column: tuple[float, float], *, em: float) -> bool:
    return abs(run[0].x0 + run[-1].x1 - column[0] - column[1]) / 2 < _EXACT * em


def _zones(word: Word, strips: Sequence[Strip]) -> list[int]:
    """Return the columns that a word touches, counted from 0."""
    first = sum(strip.middle <= word.x0 for strip in strips)
    last = sum(strip.middle < word.x1 for strip in strips)
    return list(range(first, max(first, last) + 1))
