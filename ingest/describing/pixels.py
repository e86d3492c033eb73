"""A crop's pixels: its size, whether anything is on it, and whether another shows the same."""

import io
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy import uint8
from numpy.typing import NDArray
from PIL import Image

__all__ = ["Pixels"]

# Grey levels (of 255) by which a pixel differs from the background, and the share of such pixels that makes a picture.
_INK = 24
_LEAST_INK = 0.001
# Two pictures are the same if their shapes differ by 2 % at the most, and no cell of a grid of 64 × 64 by more than
# this many grey levels: one was saved again, with loss. It is strict, for a plot with another label differs by 37:
# what is taken for the same by mistake is lost, what is not costs a call.
_GRID = 64
_SHAPE = 0.02
_ALIKE = 12


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pixels:
    """A picture in grey: its size, its share of pixels that stand out, and what it looks like from afar."""

    width: int
    height: int
    ink: float
    thumbnail: NDArray[uint8] = field(repr=False)

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Raises ValueError for bytes that are no picture."""
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
        """Whether nearly all pixels have one level of grey: fewer than one in a thousand stands out."""
        return self.ink < _LEAST_INK

    def shows_the_same(self, other: "Pixels") -> bool:
        """Whether a person would hardly tell them apart, whatever their sizes."""
        one, two = self.width / self.height, other.width / other.height
        if abs(one - two) > _SHAPE * max(one, two):
            return False
        return int(np.abs(self.thumbnail.astype(int) - other.thumbnail.astype(int)).max()) <= _ALIKE


def _ink(grey: NDArray[uint8]) -> float:
    """The share of pixels that differ from the commonest level."""
    counts = np.bincount(grey.ravel(), minlength=256)
    background = int(counts.argmax())
    near = counts[max(0, background - _INK) : background + _INK + 1].sum()
    return float(1 - near / counts.sum())
