"""Finds the skew, the rules and the pictures of a raster page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray
from PIL import Image

from paperscope_core.types import Box

__all__ = ["Ink", "RasterRules", "binarize", "erase_boxes", "estimate_skew", "find_pictures", "find_rules"]

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


def binarize(picture: Image.Image) -> Ink:
    """Which pixels are ink: darker than halfway between the paper and the median of what contrasts with it."""
    grey = np.asarray(picture.convert("L"))
    paper = float(np.percentile(grey[::4, ::4], 70))
    marked = grey[grey < paper - _MIN_CONTRAST]
    if marked.size < _MIN_INK_PIXELS:
        return np.zeros(grey.shape, bool)
    return np.asarray(grey < (paper + float(np.median(marked))) / 2)


def estimate_skew(ink: Ink) -> float:
    """The angle in degrees, counterclockwise, by which the text lines lean; 0.0 if no angle is clearly better."""
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
    """How unevenly the rows are filled after a rotation by an angle."""
    rows = np.round(ys + xs * np.tan(np.radians(angle))).astype(int)
    counts = np.bincount(rows - rows.min()).astype(float)
    return float(np.square(counts).sum())


@dataclass(frozen=True, kw_only=True, slots=True)
class RasterRules:
    """Boxes of thin lines in pixels."""

    horizontal: tuple[Box, ...]
    vertical: tuple[Box, ...]


def find_rules(ink: Ink, *, least: int, thickest: int) -> RasterRules:
    """Straight lines at least `least` pixels long and at most `thickest` thick."""
    return RasterRules(
        horizontal=tuple(_lines(ink, least=least, thickest=thickest)),
        vertical=tuple(Box(y0, x0, y1, x1) for x0, y0, x1, y1 in _lines(ink.T, least=least, thickest=thickest)),
    )


def _lines(ink: Ink, *, least: int, thickest: int) -> Iterator[Box]:
    """Horizontal lines: runs of at least `least` dark pixels, joined if they touch."""
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
    """Returns the ink outside all boxes."""
    rest = ink.copy()
    for x0, y0, x1, y1 in boxes:
        rest[max(0, int(y0)) : int(y1) + 1, max(0, int(x0)) : int(x1) + 1] = False
    return rest


def find_pictures(ink: Ink, *, text: Sequence[Box], least: int) -> list[Box]:
    """Areas of ink outside text, at least `least` pixels wide and high; near ones are joined."""
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
