"""Marks that recognisers overlook because they stand alone: dashes in the cells of tables, bullets before items."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import ndimage

from ingest.ocr.measures import MeasuredLine
from ingest.ocr.raster import Ink, without
from paperscope.types import Box

__all__ = ["Mark", "marks_of"]

# SciPy has no types.
_ndimage: Any = ndimage

_DASH_WIDTHS = (0.18, 1.1)
_DASH_THICK = 0.14
_DASH_HEIGHT = 0.24
_BULLET_SIZES = (0.18, 0.5)
_BULLET_HEIGHT = 0.3
_OFF = 0.14
_TO_ITEM = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A mark on the baseline of a line, in pixels."""

    text: Literal["-", "•"]
    x0: float
    x1: float
    line: MeasuredLine


def marks_of(lines: Sequence[MeasuredLine], ink: Ink) -> list[Mark]:
    """Dashes beside text of the same row, and bullets shortly before a line; `ink` is without rules."""
    if not lines:
        return []
    rest = without(ink, [line.box for line in lines])
    labels, _ = _ndimage.label(rest, structure=np.ones((3, 3)))
    largest = 1.5 * max(line.size for line in lines)
    boxes = [
        Box(float(across.start), float(down.start), float(across.stop), float(down.stop))
        for down, across in _ndimage.find_objects(labels)
        if across.stop - across.start < largest and down.stop - down.start < largest
    ]
    return list(_marks(lines, boxes))


def _marks(lines: Sequence[MeasuredLine], boxes: Sequence[Box]) -> Iterator[Mark]:
    for box in boxes:
        row = [line for line in lines if line.box.y0 < (box.y0 + box.y1) / 2 < line.box.y1]
        for line in sorted(row, key=lambda line: _apart(line.box, box)):
            mark = _read(box, line)
            if mark:
                yield Mark(text=mark, x0=box.x0, x1=box.x1, line=line)
                break


def _apart(line: Box, box: Box) -> float:
    return max(line.x0 - box.x1, box.x0 - line.x1)


def _read(box: Box, line: MeasuredLine) -> Literal["-", "•"] | None:
    """What a patch of ink is to a line: by its width, its height, and how far above the baseline it stands."""
    size = line.size
    width, height = (box.x1 - box.x0) / size, (box.y1 - box.y0) / size
    above = (line.baseline - (box.y0 + box.y1) / 2) / size
    if _apart(line.box, box) < 0:
        return None
    if _DASH_WIDTHS[0] <= width <= _DASH_WIDTHS[1] and height <= _DASH_THICK and width > 2 * height:
        return "-" if abs(above - _DASH_HEIGHT) <= _OFF else None
    round_ = max(width, height) < 1.35 * min(width, height)
    if round_ and _BULLET_SIZES[0] <= width <= _BULLET_SIZES[1] and abs(above - _BULLET_HEIGHT) <= _OFF:
        return "•" if 0 <= line.box.x0 - box.x1 <= _TO_ITEM * size else None
    return None
