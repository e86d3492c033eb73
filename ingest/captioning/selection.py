"""Selects the images of a paper that a vision model describes: not the small, blank and repeated ones."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy import uint8
from numpy.typing import NDArray
from PIL import Image

from paperscope_core.types import Equation, Figure, Paper, SkippedImage, Table, crops_of

__all__ = ["Pictured", "Pixels", "Selection", "select_images"]

# Grey levels (of 255) by which a pixel differs from the background, and the least share of such pixels in a picture.
_INK = 24
_LEAST_INK = 0.001
# Two images look the same if their aspect ratios differ by at most 2 %, and no cell of a 64 × 64 grid by more than 12
# grey levels, as after lossy recompression. The limit is strict, because a plot with another label differs by 37: an
# image skipped by mistake is lost, a duplicate costs only a call.
_GRID = 64
_SHAPE = 0.02
_ALIKE = 12

Pictured = Table | Figure | Equation
_LEAST_PIXELS = 24
_LEAST_POINTS = 24.0
_LEAST_EQUATION = 5.0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pixels:
    """A greyscale image: its size, its share of pixels that differ from the background, and a thumbnail."""

    width: int
    height: int
    ink: float
    thumbnail: NDArray[uint8] = field(repr=False)

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Decode an image. Raise ValueError for bytes that are not an image."""
        try:
            with Image.open(io.BytesIO(data)) as image:
                grey = image.convert("RGBA")
                sheet = Image.new("RGBA", grey.size, "white")
                shown = Image.alpha_composite(sheet, grey).convert("L")
        except (OSError, SyntaxError, Image.DecompressionBombError) as error:
            raise ValueError(f"not a picture: {error}") from error
        return cls(
            width=shown.width,
            height=shown.height,
            ink=_ink(np.asarray(shown)),
            thumbnail=np.asarray(shown.resize((_GRID, _GRID), Image.Resampling.BOX)),
        )

    @property
    def blank(self) -> bool:
        """Whether fewer than one pixel in a thousand differs from the background."""
        return self.ink < _LEAST_INK

    def shows_the_same(self, other: "Pixels") -> bool:
        """Return whether two images look the same, whatever their sizes."""
        one, two = self.width / self.height, other.width / other.height
        if abs(one - two) > _SHAPE * max(one, two):
            return False
        return int(np.abs(self.thumbnail.astype(int) - other.thumbnail.astype(int)).max()) <= _ALIKE


def _ink(grey: NDArray[uint8]) -> float:
    """Return the share of pixels that differ from the most frequent grey level."""
    counts = np.bincount(grey.ravel(), minlength=256)
    background = int(counts.argmax())
    near = counts[max(0, background - _INK) : background + _INK + 1].sum()
    return float(1 - near / counts.sum())


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The elements whose images are described, one call each, and the skipped ones, in reading order."""

    wanted: tuple[Pictured, ...]
    skipped: tuple[SkippedImage, ...]


def select_images(paper: Paper, crops: Mapping[str, bytes]) -> Selection:
    """Select by the first crop of each element; elements without a crop are left out. Raise KeyError."""
    wanted: list[Pictured] = []
    skipped: list[SkippedImage] = []
    seen: dict[tuple[str, ...], tuple[Pictured, Pixels]] = {}
    for element in paper.elements:
        if not isinstance(element, Pictured) or not (named := crops_of(element)):
            continue
        try:
            pixels = Pixels.read(crops[named[0]])
        except ValueError:
            reason = "its crop can't be opened as a picture"
        else:
            reason = next(_reasons(element, pixels, seen), "")
        if reason:
            skipped.append(SkippedImage(element=element.id, crop=named[0], place=element.place, reason=reason))
        else:
            wanted.append(element)
            seen[named] = (element, pixels)
    return Selection(wanted=tuple(wanted), skipped=tuple(skipped))


def _reasons(
    element: Pictured, pixels: Pixels, seen: Mapping[tuple[str, ...], tuple[Pictured, Pixels]]
) -> Iterator[str]:
    least = _LEAST_EQUATION if isinstance(element, Equation) else _LEAST_POINTS
    box = element.place.box
    side = round(min(box.x1 - box.x0, box.y1 - box.y0), 1)
    if min(pixels.width, pixels.height) < _LEAST_PIXELS:
        yield f"too small: {pixels.width} × {pixels.height} pixels, the least side is {_LEAST_PIXELS}"
    elif side < least and not element.place.by_line:
        yield f"too small: {side:g} points, the least side is {least:g}"
    if pixels.blank:
        yield "blank: fewer than one pixel in a thousand stands out"
    same = seen.get(crops_of(element))
    if same is not None:
        yield f"the same picture as {_name(same[0])}"
    for other, others in seen.values():
        if isinstance(element, Figure) and isinstance(other, Figure) and pixels.shows_the_same(others):
            yield f"looks the same as {_name(other)}"


def _name(element: Pictured) -> str:
    return element.label or element.id.rpartition("/")[2]
