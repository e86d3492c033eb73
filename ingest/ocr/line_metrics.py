"""Baseline, letter size and weight of recognised lines, measured in their ink."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ingest.document.geometry import bounding_box, runs_of
from ingest.ocr.raster import Ink
from ingest.ocr.recognizer import RecognizedWord
from paperscope_core.types import Box

__all__ = ["MeasuredLine", "measure_lines", "snap_sizes"]

# Sizes that differ by less than this share count as equal; the measurement is not more precise.
_SAME_SIZE = 0.09
# Strokes this much thicker than usual, for their height, are bold.
_BOLD = 1.28
# Baselines closer than this, in ems, are level.
_LEVEL = 0.08
# A line of fewer letters (the "4" of "4 Experiments") can't be measured; it gets the metrics of the line beside it, if
# that begins within this many ems, on about the same baseline, in about the same size.
_SHORT = 4
_NEIGHBOUR_GAP = 2.5
_NEIGHBOUR_BASELINE = 0.15
_NEIGHBOUR_SIZE = 0.25
# Heights above the baseline in ems: capitals and digits, letters like x.
_CAPITAL_HEIGHT, _X_HEIGHT = 0.67, 0.46
_TALL = frozenset("bdfhklt")


def snap_sizes(lines: Sequence[tuple[float, int]]) -> list[float]:
    """Snaps the sizes of lines, given as (size, letters), to the few that a page is printed in.

    Sizes near that of most letters become it; then the same for the rest.
    """
    sizes = [size for size, _ in lines]
    left = set(range(len(lines)))
    while left:
        near_each = {
            index: [other for other in left if abs(lines[other][0] - lines[index][0]) <= _SAME_SIZE * lines[index][0]]
            for index in sorted(left)
        }
        mode = max(near_each, key=lambda index: sum(lines[other][1] for other in near_each[index]))
        near = near_each[mode]
        weight = sum(lines[index][1] for index in near) or 1
        common = sum(lines[index][0] * lines[index][1] for index in near) / weight
        for index in near:
            sizes[index] = round(common or lines[mode][0], 1)
        left.difference_update(near)
    return sizes


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredLine:
    """The words of a line; `baseline` and `size` are in pixels."""

    words: tuple[RecognizedWord, ...]
    baseline: float
    size: float
    bold: bool

    @property
    def box(self) -> Box:
        """The box of all words."""
        return _box_of(self.words)

    @property
    def letters(self) -> int:
        """The number of letters."""
        return _letters(self.words)


def measure_lines(words: Sequence[RecognizedWord], ink: Ink) -> list[MeasuredLine]:
    """Returns the lines of a page, except vertical ones (axis labels, stamps in the margin); `ink` is without rules."""
    groups: dict[int, list[RecognizedWord]] = defaultdict(list)
    for word in words:
        groups[word.line].append(word)
    kept = [tuple(group) for group in groups.values() if not _is_vertical(group)]
    measures = [_measured(group, ink) for group in kept]
    sizes = snap_sizes([(size, _letters(group)) for (_, size), group in zip(measures, kept, strict=True)])
    heavy = _bold_lines(kept, ink)
    lines = [
        MeasuredLine(words=group, baseline=baseline, size=size, bold=bold)
        for group, (baseline, _), size, bold in zip(kept, measures, sizes, heavy, strict=True)
    ]
    return _levelled([_like_neighbour(line, lines) for line in lines])


def _like_neighbour(line: MeasuredLine, lines: Sequence[MeasuredLine]) -> MeasuredLine:
    """Returns the line; one too short to be measured gets the metrics of the line beside it."""
    if line.letters > _SHORT:
        return line
    for other in lines:
        if (
            other.letters > _SHORT
            and 0 < other.box.x0 - line.box.x1 < _NEIGHBOUR_GAP * other.size
            and abs(other.baseline - line.baseline) < _NEIGHBOUR_BASELINE * other.size
            and abs(other.size - line.size) < _NEIGHBOUR_SIZE * other.size
        ):
            return replace(line, size=other.size, baseline=other.baseline, bold=other.bold)
    return line


def _levelled(lines: Sequence[MeasuredLine]) -> list[MeasuredLine]:
    """Sets baselines level that differ by less than can be measured."""
    rows = runs_of(
        sorted(lines, key=lambda line: line.baseline),
        joins=lambda row, line: line.baseline - row[0].baseline <= _LEVEL * line.size,
    )
    levelled: list[MeasuredLine] = []
    for row in rows:
        letters = sum(line.letters for line in row)
        mean = sum(line.baseline * line.letters for line in row) / max(1, letters)
        levelled += [replace(line, baseline=mean) for line in row]
    return levelled


def _is_vertical(line: Sequence[RecognizedWord]) -> bool:
    x0, y0, x1, y1 = _box_of(line)
    return y1 - y0 > 2 * (x1 - x0) and _letters(line) > 2


def _measured(line: Sequence[RecognizedWord], ink: Ink) -> tuple[float, float]:
    """Returns baseline and letter size of a line in pixels: where the ink decreases most, and its extent above that."""
    x0, y0, x1, y1 = (max(0, int(value)) for value in _box_of(line))
    rows = ink[y0 : y1 + 1, x0 : x1 + 1].sum(axis=1).astype(float)
    text = "".join(word.text for word in line)
    tall = any(letter.isupper() or letter.isdigit() or letter in _TALL for letter in text)
    share = _CAPITAL_HEIGHT if tall else _X_HEIGHT
    height = y1 - y0
    if len(rows) < 6 or not rows.any():
        return y1 - 0.22 * height, 0.8 * height
    steps = rows[:-1] - rows[1:]
    half = len(steps) // 2
    baseline = half + int(np.argmax(steps[half:])) + 1
    top = int(np.nonzero(rows > 0.04 * rows.max())[0][0])
    size = (baseline - top) / share
    if not 0.45 * height < size < 1.5 * height:
        return y1 - 0.22 * height, 0.8 * height
    return float(y0 + baseline), size


def _bold_lines(lines: Sequence[Sequence[RecognizedWord]], ink: Ink) -> list[bool]:
    """Which lines are bold: those whose strokes are much thicker, for their height, than the median letter's."""
    thick = [_stroke_width(_box_of(line), ink) for line in lines]
    each_letters = sorted(
        value for value, line in zip(thick, lines, strict=True) if value for _ in range(_letters(line))
    )
    usual = each_letters[(len(each_letters) - 1) // 2] if each_letters else 0.0
    return [value > _BOLD * usual for value in thick]


def _stroke_width(box: Box, ink: Ink) -> float:
    """Returns the mean length of dark runs in the rows of a line, relative to its height; 0.0 without ink."""
    x0, y0, x1, y1 = (max(0, int(value)) for value in box)
    part = ink[y0 : y1 + 1, x0 : x1 + 1]
    runs = int(np.count_nonzero(part[:, 1:] & ~part[:, :-1])) + int(np.count_nonzero(part[:, :1]))
    return float(np.count_nonzero(part)) / runs / max(1, y1 - y0) if runs else 0.0


def _box_of(line: Sequence[RecognizedWord]) -> Box:
    return bounding_box(word.box for word in line)


def _letters(line: Sequence[RecognizedWord]) -> int:
    return sum(len(word.text) for word in line)
