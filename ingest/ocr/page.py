"""Converts the image of a page to `PageContent`: recognised words as characters, and the rules and pictures of the
raster."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import scipy
from PIL import Image

from ingest.document.geometry import join_rules, overlap_x
from ingest.document.pages import Char, HorizontalRule, PageContent, VerticalRule
from ingest.ocr.raster import (
    Ink,
    MeasuredLine,
    binarize,
    erase_boxes,
    estimate_skew,
    find_pictures,
    find_rules,
    measure_lines,
)
from ingest.ocr.recognizer import RecognizedWord, TextRecognizer
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.types import Box

__all__ = ["RecognizedPage", "deskew", "find_marks", "recognize_page", "respace_line"]

# SciPy has no types; it loads `ndimage` on first use.
_scipy: Any = scipy

_FONT = "recognised"
# Degrees; rotating a page blurs it, so a smaller skew is not corrected.
_MIN_SKEW = 0.15
# In points: the shortest and the thickest rule of a table, the smallest picture.
_MIN_RULE = 24.0
_MAX_RULE_WIDTH = 2.6
_MIN_PICTURE = 36.0
# A dense page takes half a minute on a busy machine.
_TIME_FACTOR = 10.0
# Gaps in the ink of a line, in ems: the narrowest that may be a space, and one that is a space even where the
# recogniser has none.
_MIN_GAP = 0.17
_SURE_GAP = 0.24
# Relative letter widths, about as in common fonts.
_NARROW, _WIDE = frozenset("iljtfI1.,:;'’!|()[]/-·"), frozenset("mwMWQO%@—")
_NARROW_WIDTH, _WIDE_WIDTH, _CAPITAL_WIDTH = 0.55, 1.4, 1.15
# Dashes and bullets in ems: width, thickness, height above the baseline; and the tolerance of the height.
_DASH_WIDTHS = (0.18, 1.1)
_DASH_THICKNESS = 0.14
_DASH_HEIGHT = 0.24
_BULLET_SIZES = (0.18, 0.5)
_BULLET_HEIGHT = 0.3
_HEIGHT_TOLERANCE = 0.14
# The widest gap in ems between a bullet and its item.
_MAX_BULLET_GAP = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RecognizedPage:
    """A recognised page.

    Attributes:
        confidence: The mean over all letters, 0.0 without any.
        skew: The angle in degrees by which the image was deskewed.
    """

    content: PageContent
    confidence: float
    skew: float


def recognize_page(
    picture: Image.Image, recognizer: TextRecognizer, *, number: int, width: float, height: float
) -> RecognizedPage:
    """Recognise the image of a page of `width` by `height` points. Raise `PageReadError`."""
    skew = estimate_skew(binarize(picture))
    picture = deskew(picture, skew)
    ink = binarize(picture)
    extend_time_limit(_TIME_FACTOR)
    words = [word for word in recognizer.recognize(picture) if word.text.strip()]
    scale = width / picture.width
    rules = find_rules(ink, least=round(_MIN_RULE / scale), thickest=max(3, round(_MAX_RULE_WIDTH / scale)))
    ink = erase_boxes(ink, [_enlarged(box, 1) for box in (*rules.horizontal, *rules.vertical)])
    lines = measure_lines(words, ink)
    pictures = find_pictures(ink, text=[_enlarged(line.box, 3) for line in lines], least=round(_MIN_PICTURE / scale))
    content = PageContent(
        number=number,
        width=width,
        height=height,
        chars=(
            *(char for line in lines for char in _chars(line, ink, scale=scale)),
            *(_char(mark, scale=scale) for mark in find_marks(lines, ink)),
        ),
        horizontal=tuple(
            join_rules(
                HorizontalRule(x0 * scale, x1 * scale, (y0 + y1) / 2 * scale) for x0, y0, x1, y1 in rules.horizontal
            )
        ),
        vertical=tuple(
            VerticalRule((x0 + x1) / 2 * scale, y0 * scale, y1 * scale) for x0, y0, x1, y1 in rules.vertical
        ),
        images=tuple(Box(*(value * scale for value in box)) for box in pictures),
    )
    letters = sum(len(word.text) for word in words)
    sure = sum(word.confidence * len(word.text) for word in words)
    return RecognizedPage(content=content, confidence=round(sure / letters, 2) if letters else 0.0, skew=skew)


def deskew(picture: Image.Image, skew: float) -> Image.Image:
    """Rotate an image so that lines which lean by `skew` degrees become level."""
    if abs(skew) < _MIN_SKEW:
        return picture
    return picture.rotate(-skew, resample=Image.Resampling.BICUBIC, fillcolor="white")


def _chars(line: MeasuredLine, ink: Ink, *, scale: float) -> Iterator[Char]:
    """Yield the characters of a line, in points."""
    rows = (int(line.baseline - 0.75 * line.size), int(line.baseline + 0.2 * line.size))
    baseline, size = line.baseline * scale, round(line.size * scale, 1)
    for piece in respace_line(line.words, ink, rows=rows, size=line.size):
        edges = letter_edges(piece.text, x0=piece.x0 * scale, x1=piece.x1 * scale)
        for letter, (x0, x1) in zip(piece.text, pairwise(edges), strict=True):
            if not letter.isspace():
                yield Char(letter, x0, x1, baseline, size, _FONT, line.bold, False)


def _char(mark: "Mark", *, scale: float) -> Char:
    line = mark.line
    baseline, size = line.baseline * scale, round(line.size * scale, 1)
    return Char(mark.text, mark.x0 * scale, mark.x1 * scale, baseline, size, _FONT, False, False)


def _enlarged(box: Box, by: float) -> Box:
    return Box(box.x0 - by, box.y0 - by, box.x1 + by, box.y1 + by)


@dataclass(frozen=True, kw_only=True, slots=True)
class SpacedWord:
    """A word and where it begins and ends, in pixels."""

    text: str
    x0: float
    x1: float


def respace_line(line: Sequence[RecognizedWord], ink: Ink, *, rows: tuple[int, int], size: float) -> list[SpacedWord]:
    """Place the spaces of a line by the gaps in its ink, since recognisers lose and misplace them.

    A recognised space moves to the nearest gap, and stays if there is none; a wide gap without a recognised space
    becomes one.

    Args:
        rows: The rows of pixels between which the letters are.
        size: The letter size in pixels.
    """
    letters = [letter for word in line for letter in word.text if not letter.isspace()]
    centers = [center for word in line for center in _letter_centers(word)]
    left = max(0, int(min(word.box.x0 for word in line)))
    right = int(max(word.box.x1 for word in line)) + 1
    dark = np.nonzero(ink[max(0, rows[0]) : rows[1] + 1, left:right].any(axis=0))[0] + left
    if not len(dark):
        return [SpacedWord(text=word.text, x0=word.box.x0, x1=word.box.x1) for word in line]
    # The letters, counted over the line, before which the recogniser has a space.
    counts = np.cumsum([sum(not letter.isspace() for letter in word.text) for word in line])
    spaces = [int(count) for count in counts[:-1]]
    gaps = [(int(a) + 1, int(b)) for a, b in pairwise(dark) if b - a - 1 >= _MIN_GAP * size]
    cuts: dict[int, tuple[float, float]] = {}
    for gap in sorted(gaps, key=lambda gap: gap[0] - gap[1]):
        at = sum(center < (gap[0] + gap[1]) / 2 for center in centers)
        near = [space for space in spaces if abs(space - at) <= 1 and space not in cuts]
        if near:
            cuts[min(near, key=lambda space: abs(space - at))] = gap
        elif gap[1] - gap[0] >= _SURE_GAP * size and at not in cuts and _may_part("".join(letters), at):
            cuts[at] = gap
    for space in spaces:
        if space not in cuts:
            middle = (centers[space - 1] + centers[space]) / 2
            cuts[space] = (middle - _MIN_GAP / 2 * size, middle + _MIN_GAP / 2 * size)
    return _spaced_words(letters, cuts, ends=(float(dark[0]), float(dark[-1] + 1)))


def _may_part(text: str, at: int) -> bool:
    """Return whether a wide gap may be a space: not between digits, which are often spaced widely."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isdigit() and after.isdigit():
        return False
    if before == ".":
        return after.isupper()
    return (before.isalnum() or before in ",;)]%") and (after.isalnum() or after in "([")


def _spaced_words(
    letters: Sequence[str], cuts: dict[int, tuple[float, float]], *, ends: tuple[float, float]
) -> list[SpacedWord]:
    bounds = [(ends[0], ends[0]), *(cuts[at] for at in sorted(cuts)), (ends[1], ends[1])]
    at = [0, *sorted(cuts), len(letters)]
    return [
        SpacedWord(text="".join(letters[first:last]), x0=before[1], x1=max(after[0], before[1] + 1.0))
        for (first, last), (before, after) in zip(pairwise(at), pairwise(bounds), strict=True)
        if last > first
    ]


def _letter_centers(word: RecognizedWord) -> list[float]:
    """Return the x of each letter's centre: as recognised, else by common letter widths."""
    text = "".join(word.text.split())
    if len(word.letters) == len(text):
        return list(word.letters)
    edges = letter_edges(text, x0=word.box.x0, x1=word.box.x1)
    return [(first + last) / 2 for first, last in pairwise(edges)]


def letter_edges(text: str, *, x0: float, x1: float) -> list[float]:
    """Return the x at which each letter begins, and the end of the last."""
    sums = np.concatenate([[0.0], np.cumsum([_width(letter) for letter in text])])
    return [float(x0 + (x1 - x0) * value / max(sums[-1], 1e-6)) for value in sums]


def _width(letter: str) -> float:
    if letter in _NARROW:
        return _NARROW_WIDTH
    if letter in _WIDE:
        return _WIDE_WIDTH
    return _CAPITAL_WIDTH if letter.isupper() else 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A mark on the baseline of a line, in pixels."""

    text: Literal["-", "•"]
    x0: float
    x1: float
    line: MeasuredLine


def find_marks(lines: Sequence[MeasuredLine], ink: Ink) -> list[Mark]:
    """Find dashes in table cells and bullets before items, which recognisers miss; `ink` is without rules."""
    if not lines:
        return []
    rest = erase_boxes(ink, [line.box for line in lines])
    labels, _ = _scipy.ndimage.label(rest, structure=np.ones((3, 3)))
    largest = 1.5 * max(line.size for line in lines)
    boxes = [
        Box(float(across.start), float(down.start), float(across.stop), float(down.stop))
        for down, across in _scipy.ndimage.find_objects(labels)
        if across.stop - across.start < largest and down.stop - down.start < largest
    ]
    return list(_marks(lines, boxes))


def _marks(lines: Sequence[MeasuredLine], boxes: Sequence[Box]) -> Iterator[Mark]:
    for box in boxes:
        row = [line for line in lines if line.box.y0 < (box.y0 + box.y1) / 2 < line.box.y1]
        for line in sorted(row, key=lambda line: -overlap_x(line.box, box)):
            mark = _classify_mark(box, line)
            if mark:
                yield Mark(text=mark, x0=box.x0, x1=box.x1, line=line)
                break


def _classify_mark(box: Box, line: MeasuredLine) -> Literal["-", "•"] | None:
    """Classify a patch of ink by its width, its thickness, and its height above the baseline of a line."""
    size = line.size
    width, height = (box.x1 - box.x0) / size, (box.y1 - box.y0) / size
    above = (line.baseline - (box.y0 + box.y1) / 2) / size
    if overlap_x(line.box, box) > 0:
        return None
    if _DASH_WIDTHS[0] <= width <= _DASH_WIDTHS[1] and height <= _DASH_THICKNESS and width > 2 * height:
        return "-" if abs(above - _DASH_HEIGHT) <= _HEIGHT_TOLERANCE else None
    round_ = max(width, height) < 1.35 * min(width, height)
    if round_ and _BULLET_SIZES[0] <= width <= _BULLET_SIZES[1] and abs(above - _BULLET_HEIGHT) <= _HEIGHT_TOLERANCE:
        return "•" if 0 <= line.box.x0 - box.x1 <= _MAX_BULLET_GAP * size else None
    return None
