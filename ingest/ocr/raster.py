"""Measures a raster page: its skew, rules and pictures, and the baseline, size and weight of recognised lines."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray
from PIL import Image

from ingest.document.geometry import bounding_box, runs_of
from ingest.ocr.recognizer import RecognizedWord
from paperscope_core.types import Box

__all__ = [
    "Ink",
    "MeasuredLine",
    "binarize",
    "erase_boxes",
    "estimate_skew",
    "find_pictures",
    "find_rules",
    "measure_lines",
    "snap_sizes",
]

Ink: TypeAlias = NDArray[np.bool_]
# SciPy has no types; it loads `ndimage` on first use.
_scipy: Any = scipy

# Ink is at least this much darker than paper, of 255 grey levels.
_MIN_CONTRAST = 40
_MIN_INK_PIXELS = 20
# Degrees; a page that leans more is not a scan of a flat sheet.
_MAX_SKEW = 5.0
_SKEW_STEP = 0.1
_MIN_SKEW = 0.15
# The least gain in sharpness of the rows for a page to be rotated.
_MIN_GAIN = 1.25
_SKEW_SAMPLE = 150_000
_MIN_SKEW_PIXELS = 500
# The share of dark pixels in a window of a rule; scans have gaps.
_RULE_DENSITY = 0.9

# Sizes that differ by less than this share count as equal; the measurement is not more precise.
_SAME_SIZE = 0.09
# Strokes this much thicker than usual, for their height, are bold.
_BOLD = 1.28
# Baselines closer than this, in ems, are level.
_LEVEL = 0.08
# A line of fewer letters (the "4" of "4 Experiments") can't be measured; it gets the metrics of the line next to it, if
# that begins within this many ems, on about the same baseline, in about the same size.
_SHORT = 4
_NEIGHBOUR_GAP = 2.5
_NEIGHBOUR_BASELINE = 0.15
_NEIGHBOUR_SIZE = 0.25
# Heights above the baseline in ems: capitals and digits, letters like x.
_CAPITAL_HEIGHT, _X_HEIGHT = 0.67, 0.46
_TALL = frozenset("bdfhklt")


def binarize(picture: Image.Image) -> Ink:
    """Return which pixels are ink: darker than halfway between the paper and the median of the contrasting pixels."""
    grey = np.asarray(picture.convert("L"))
    paper = float(np.percentile(grey[::4, ::4], 70))
    marked = grey[grey < paper - _MIN_CONTRAST]
    if marked.size < _MIN_INK_PIXELS:
        return np.zeros(grey.shape, bool)
    return np.asarray(grey < (paper + float(np.median(marked))) / 2)


def estimate_skew(ink: Ink) -> float:
    """Return the angle in degrees, counterclockwise, by which the text lines lean; 0.0 if no angle is clearly
    better."""
    ys, xs = np.nonzero(ink)
    if len(xs) < _MIN_SKEW_PIXELS:
        return 0.0
    step = max(1, len(xs) // _SKEW_SAMPLE)
    xs, ys = xs[::step], ys[::step]
    angles = np.arange(-_MAX_SKEW, _MAX_SKEW + _SKEW_STEP / 2, _SKEW_STEP)
    sharp = [_sharpness(xs, ys, angle) for angle in angles]
    best = int(np.argmax(sharp))
    level = _sharpness(xs, ys, 0.0)
    return round(float(angles[best]), 2) if sharp[best] > _MIN_GAIN * level and abs(angles[best]) > _MIN_SKEW else 0.0


def _sharpness(xs: NDArray[np.intp], ys: NDArray[np.intp], angle: float) -> float:
    """Return how unevenly the rows are filled after a rotation by an angle."""
    rows = np.round(ys + xs * np.tan(np.radians(angle))).astype(int)
    counts = np.bincount(rows - rows.min()).astype(float)
    return float(np.square(counts).sum())


@dataclass(frozen=True, kw_only=True, slots=True)
class RasterRules:
    """Boxes of thin lines in pixels."""

    horizontal: tuple[Box, ...]
    vertical: tuple[Box, ...]


def find_rules(ink: Ink, *, least: int, thickest: int) -> RasterRules:
    """Return straight lines at least `least` pixels long and at most `thickest` thick."""
    return RasterRules(
        horizontal=tuple(_lines(ink, least=least, thickest=thickest)),
        vertical=tuple(Box(y0, x0, y1, x1) for x0, y0, x1, y1 in _lines(ink.T, least=least, thickest=thickest)),
    )


def _lines(ink: Ink, *, least: int, thickest: int) -> Iterator[Box]:
    """Yield horizontal lines: runs of at least `least` dark pixels, joined if they touch."""
    if ink.shape[1] <= least:
        return
    sums = np.cumsum(np.pad(ink, ((0, 0), (1, 0))), axis=1, dtype=np.int32)
    starts = (sums[:, least:] - sums[:, :-least]) >= _RULE_DENSITY * least
    runs = np.zeros(ink.shape, bool)
    for row in np.nonzero(starts.any(axis=1))[0]:
        marks = np.zeros(ink.shape[1] + 1, np.int32)
        at = np.nonzero(starts[row])[0]
        np.add.at(marks, at, 1)
        np.add.at(marks, at + least, -1)
        runs[row] = np.cumsum(marks)[:-1] > 0
    labels, _ = _scipy.ndimage.label(runs, structure=np.ones((3, 3)))
    for down, across in _scipy.ndimage.find_objects(labels):
        if down.stop - down.start <= thickest:
            # A run may extend a little beyond the ink.
            dark = np.nonzero(ink[down, across].any(axis=0))[0] + across.start
            yield Box(float(dark[0]), float(down.start), float(dark[-1] + 1), float(down.stop))


def erase_boxes(ink: Ink, boxes: Sequence[Box]) -> Ink:
    """Return the ink outside all boxes."""
    rest = ink.copy()
    for x0, y0, x1, y1 in boxes:
        rest[max(0, int(y0)) : int(y1) + 1, max(0, int(x0)) : int(x1) + 1] = False
    return rest


def find_pictures(ink: Ink, *, text: Sequence[Box], least: int) -> list[Box]:
    """Return areas of ink outside text, at least `least` pixels wide and high; near ones are joined."""
    rest = erase_boxes(ink, text)
    cell = max(4, least // 8)
    height, width = (size // cell for size in rest.shape)
    if not height or not width:
        return []
    blocks = rest[: height * cell, : width * cell].reshape(height, cell, width, cell).mean(axis=(1, 3)) > 0.02
    labels, _ = _scipy.ndimage.label(_scipy.ndimage.binary_dilation(blocks, iterations=2))
    found: list[Box] = []
    for number, (down, across) in enumerate(_scipy.ndimage.find_objects(labels), start=1):
        inside = (labels[down, across] == number) & blocks[down, across]
        ys, xs = np.nonzero(inside)
        if not len(xs):
            continue
        x0, y0 = float(across.start + xs.min()) * cell, float(down.start + ys.min()) * cell
        x1, y1 = float(across.start + xs.max() + 1) * cell, float(down.start + ys.max() + 1) * cell
        if min(x1 - x0, y1 - y0) >= least and inside.mean() > 0.2:
            found.append(Box(x0, y0, x1, y1))
    return found


def snap_sizes(lines: Sequence[tuple[float, int]]) -> list[float]:
    """Snap the sizes of lines, given as (size, letters), to the few that a page is printed in.

    Sizes near the size of most letters become that size; then the same for the rest.
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
    """Return the lines of a page, except vertical ones (axis labels, stamps in the margin); `ink` is without rules."""
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
    """Return the line; one too short to be measured gets the metrics of the line next to it."""
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
    """Set baselines level that differ by less than can be measured."""
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
    """Return baseline and letter size of a line in pixels: where the ink decreases most, and its extent above that."""
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
    """Return which lines are bold: those whose strokes are much thicker, for their height, than the median letter's."""
    thick = [_stroke_width(_box_of(line), ink) for line in lines]
    each_letters = sorted(
        value for value, line in zip(thick, lines, strict=True) if value for _ in range(_letters(line))
    )
    usual = each_letters[(len(each_letters) - 1) // 2] if each_letters else 0.0
    return [value > _BOLD * usual for value in thick]


def _stroke_width(box: Box, ink: Ink) -> float:
    """Return the mean length of dark runs in the rows of a line, relative to its height; 0.0 without ink."""
    x0, y0, x1, y1 = (max(0, int(value)) for value in box)
    part = ink[y0 : y1 + 1, x0 : x1 + 1]
    runs = int(np.count_nonzero(part[:, 1:] & ~part[:, :-1])) + int(np.count_nonzero(part[:, :1]))
    return float(np.count_nonzero(part)) / runs / max(1, y1 - y0) if runs else 0.0


def _box_of(line: Sequence[RecognizedWord]) -> Box:
    return bounding_box(word.box for word in line)


def _letters(line: Sequence[RecognizedWord]) -> int:
    return sum(len(word.text) for word in line)
