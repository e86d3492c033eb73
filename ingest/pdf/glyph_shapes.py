"""Compares the shapes of drawn glyphs with the characters that a file says they are."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from paperscope_core.types import UNKNOWN_CHARACTER

__all__ = ["CANDIDATES", "Drawing", "GlyphShapes", "is_meaningless", "shape_of"]

Floats: TypeAlias = NDArray[np.float32]

_DIGITS, _LATIN = "0123456789", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_GREEK, _SIGNS = "αβγδεθκλµπρσφχψτω∆ΓΩΣΦΨ", "-−+±<>≤≥=≠×·°≈∼~*/()[]{}|%&§†‡✓✗✔✘•@#?!$.,:;'\"‘’“”′"
_OTHERS = "©®→←↑↓∈∝∞∂∇∑∏∫√¶⊂∩∪≡…□●■▲★⊗⊕¬"
CANDIDATES = (*_DIGITS, *_LATIN, *_GREEK, *_SIGNS, *_OTHERS)
"""The characters as which a glyph may be read by its shape; a wide dash is read as minus."""

# Characters that look the same in some font: none of them contradicts another, nor makes another less certain.
_ALIKE = (
    *(f"{letter}{letter.upper()}" for letter in _LATIN[:26]),
    "-–—−_¯",
    "xX×χ✗✘",
    "oO0°Q◦○θ",
    "1lI|i![]ı",
    "'‘’,′`´",
    "·.•●",
    '"“”¨″',
    "~∼≈˜",
    "~∼-–—−",
    "fƒ",
    "*✗×∗⁎",
    "B8β",
    "dD∆ΔA▲Λ∧",
    "mµμuυ",
    "FΓr",
    "tτ†T",
    "yγµ",
    "pρ",
    "aαo",
    "wω",
    "kκ",
    "vνV∨∇✓√",
    "nη",
    "eεcE∈⊂Є",
    "5sS",
    "z2Z",
    "πnΠ∏",
    "∑Σ",
    "ΩΩ",
    "UU∪",
    "∩nΩ",
    "✓✔√",
    "φΦϕψ",
    "∂δ",
    "J3j",
    "#/",
    "βß",
    "DÐ",
    "gɡ9",
    "6b",
)

_PIXELS = 16  # The side of a shape.
_DARK = 60  # A pixel with less ink (of 255) is the soft edge of a glyph.
# The blur that makes fonts of different weights comparable, in pixels of a shape.
_BLUR = 1.0
# The weights of proportions, size, top and bottom beside the shape, and the thresholds, were fitted on 8,213 glyphs of
# development papers whose text is right, under their own names and under wrong ones; of the 6,744 glyphs of the papers
# held out, none was contradicted, and 81 % of wrong names were (docs/quality.md has the other figures).
_WEIGHTS = np.array([0.1, 0.05, 0.2, 0.2], dtype=np.float32)
_NEAR = 0.26  # The greatest distance of a glyph from the character that it is.
_CONTRADICTION = 0.17  # A glyph this much nearer to another character is not what the file says.
_DIGIT_CONTRADICTION = 0.12  # The same for a digit: a wrong number is worse than an unknown one.
_NO_DIGIT = 0.42  # A glyph this far from a digit is none, whatever it is.
_CERTAIN = 0.05  # How much farther other characters are from a glyph that is certain,
_DIGIT = 0.02  # and a letter that looks like a digit.


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """The ink (0 to 255) of a glyph at `em` pixels, its left and top edges from its origin, down positive."""

    ink: NDArray[np.uint8]
    left: int
    top: int
    em: int


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A glyph's ink, scaled to a square, and its proportions, size, top and bottom in letter sizes."""

    ink: Floats
    frame: Floats


def shape_of(drawing: Drawing) -> Shape | None:
    """Return the shape of a drawn glyph, None if it prints nothing."""
    dark = drawing.ink > _DARK
    rows, columns = np.nonzero(dark.any(axis=1))[0], np.nonzero(dark.any(axis=0))[0]
    if not len(rows):
        return None
    ink = drawing.ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float32) / 255
    height, width = ink.shape
    square = _scaling(height) @ ink @ _scaling(width).T
    top, bottom = drawing.top + int(rows[0]), drawing.top + int(rows[-1]) + 1
    frame = [np.log(width / height), np.log(max(width, height) / drawing.em), -top / drawing.em, -bottom / drawing.em]
    return Shape(square.ravel().astype(np.float32), np.array(frame, dtype=np.float32))


@cache
def _scaling(size: int) -> Floats:
    """Return the matrix that scales `size` pixels to those of a shape, and blurs."""
    edges = np.linspace(0, size, _PIXELS + 1)
    pixels = np.arange(size)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    covered = covered.clip(0) * _PIXELS / size
    places = np.arange(_PIXELS)
    blur = np.exp(-((places[:, None] - places) ** 2) / (2 * _BLUR**2))
    scaling: Floats = (blur / blur.sum(axis=1, keepdims=True) @ covered).astype(np.float32)
    return scaling


def is_meaningless(text: str) -> bool:
    """Return whether a character names no sign: control characters, private and unassigned ones."""
    return text == UNKNOWN_CHARACTER or unicodedata.category(text) in ("Cc", "Cn", "Co", "Cs")


def _is_comparable(text: str) -> bool:
    """Return whether a character has one form that fonts share; Arabic letters change theirs, and CJK has too many."""
    code = ord(text)
    return (code < 0x590 or 0x2000 <= code < 0x2C00) and unicodedata.category(text)[0] in "LNPS"


def _alike() -> Mapping[str, frozenset[str]]:
    alike: dict[str, set[str]] = {}
    for group in _ALIKE:
        for one in group:
            alike.setdefault(one, set()).update(group)
    return {one: frozenset(others) for one, others in alike.items()}


_LOOKS_LIKE = _alike()


class GlyphShapes:
    """Reads glyphs by comparing them with the candidates, as drawn in fonts that are known to be right.

    Args:
        drawn: Returns the drawings of a character in these fonts, none if no font has it.
    """

    def __init__(self, drawn: Callable[[str], Sequence[Drawing]]) -> None:
        self._drawn = drawn
        self._of = cache(self._known)
        known = [shapes for one in CANDIDATES if (shapes := self._of(one))]
        self._candidates = [one for one in CANDIDATES if self._of(one)]
        self._starts = np.cumsum([0, *(len(shapes.frames) for shapes in known[:-1])])
        self._all = _Shapes(np.concatenate([one.ink for one in known]), np.concatenate([one.frames for one in known]))
        self._margins = cache(self._margin)
        self._looking = cache(self._looking_like)

    def agrees(self, shape: Shape, claim: str) -> bool:
        """Return whether a glyph may show the character that the file says it is; a meaningless one never does."""
        if is_meaningless(claim) or not _is_comparable(claim) or self._of(claim) is None:
            return not is_meaningless(claim)
        own = float(self._looking(claim).distances(shape).min())
        gap = _DIGIT_CONTRADICTION if claim.isdigit() else _CONTRADICTION
        if own <= gap:
            return True
        if claim.isdigit() and own > _NO_DIGIT:
            return False
        nearest = float(self._all.distances(shape).min())
        return nearest > _NEAR or own - nearest <= gap

    def read(self, shape: Shape) -> str:
        """Return the character that a glyph shows by its shape alone, `UNKNOWN_CHARACTER` if that is not certain."""
        distances = np.minimum.reduceat(self._all.distances(shape), self._starts)
        best = int(distances.argmin())
        found = self._candidates[best]
        certain = distances[best] <= _NEAR and (distances - distances[best] >= self._margins(found)).all()
        return found if certain else UNKNOWN_CHARACTER

    def _margin(self, found: str) -> Floats:
        """Return by how much each candidate must be farther from a glyph that is read as `found`."""
        alike = _LOOKS_LIKE.get(found, frozenset(found))
        margins = [
            0.0
            if one == found
            else _CERTAIN
            if one not in alike
            else _DIGIT
            if one.isdigit() != found.isdigit()
            else 0.0
            for one in self._candidates
        ]
        return np.array(margins, dtype=np.float32)

    def _known(self, text: str) -> "_Shapes | None":
        shapes = [shape for drawing in self._drawn(text) if (shape := shape_of(drawing))]
        if not shapes:
            return None
        return _Shapes(np.stack([one.ink for one in shapes]), np.stack([one.frame for one in shapes]))

    def _looking_like(self, claim: str) -> "_Shapes":
        known = [shapes for one in {claim, *_LOOKS_LIKE.get(claim, ())} if (shapes := self._of(one))]
        return _Shapes(np.concatenate([one.ink for one in known]), np.concatenate([one.frames for one in known]))


class _Shapes:
    """Shapes as matrices."""

    def __init__(self, ink: Floats, frames: Floats) -> None:
        self.ink, self.frames = ink, frames
        self._squares = (ink**2).sum(axis=1)

    def distances(self, shape: Shape) -> Floats:
        """Return the distances of a shape from each: of ink, and of proportions, size and place in the line."""
        squares = self._squares + shape.ink @ shape.ink - 2 * (self.ink @ shape.ink)
        distances: Floats = np.sqrt(squares.clip(0)) / _PIXELS + np.abs(self.frames - shape.frame) @ _WEIGHTS
        return distances
