"""Where the words of a recognised line stand: spaces by the gaps in its ink, for recognisers lose and misplace them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ingest.ocr.raster import Ink
from ingest.ocr.recognizer import RecognizedWord

__all__ = ["Piece", "letter_edges", "pieces_of"]

_LEAST_GAP = 0.17
_SURE_GAP = 0.24
_NARROW, _WIDE = frozenset("iljtfI1.,:;'’!|()[]/-·"), frozenset("mwMWQO%@—")


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A word and its ends in pixels."""

    text: str
    x0: float
    x1: float


def pieces_of(line: Sequence[RecognizedWord], ink: Ink, *, rows: tuple[int, int], size: float) -> list[Piece]:
    """The words of a line whose letters lie between two rows of ink and are `size` pixels large.

    A gap in the ink settles where a recognised space is; a wide one where none was recognised parts a word; a space
    without a gap stays.
    """
    letters = [letter for word in line for letter in word.text if not letter.isspace()]
    centers = [center for word in line for center in _letter_centers(word)]
    left = max(0, int(min(word.box.x0 for word in line)))
    right = int(max(word.box.x1 for word in line)) + 1
    dark = np.nonzero(ink[max(0, rows[0]) : rows[1] + 1, left:right].any(axis=0))[0] + left
    if not len(dark):
        return [Piece(text=word.text, x0=word.box.x0, x1=word.box.x1) for word in line]
    spaces = _spaces(line)
    gaps = [(int(a) + 1, int(b)) for a, b in pairwise(dark) if b - a - 1 >= _LEAST_GAP * size]
    cuts: dict[int, tuple[float, float]] = {}
    for gap in gaps:
        at = sum(center < (gap[0] + gap[1]) / 2 for center in centers)
        near = [space for space in spaces if abs(space - at) <= 1 and space not in cuts]
        if near:
            cuts[min(near, key=lambda space: abs(space - at))] = gap
        elif gap[1] - gap[0] >= _SURE_GAP * size and at not in cuts and _parts("".join(letters), at):
            cuts[at] = gap
    for space in spaces:
        if space not in cuts:
            middle = (centers[space - 1] + centers[space]) / 2
            cuts[space] = (middle - _LEAST_GAP / 2 * size, middle + _LEAST_GAP / 2 * size)
    return _pieces(letters, cuts, ends=(float(dark[0]), float(dark[-1] + 1)))


def _parts(text: str, at: int) -> bool:
    """Whether a space may stand there though none was recognised: typewriter letters have gaps beside marks too."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before == ".":
        return after.isupper()
    return (before.isalnum() or before in ",;)]%") and (after.isalnum() or after in "([")


def _spaces(line: Sequence[RecognizedWord]) -> list[int]:
    """Before which letters (counted over the line) the recogniser has a space."""
    counts = np.cumsum([sum(not letter.isspace() for letter in word.text) for word in line])
    return [int(count) for count in counts[:-1]]


def _pieces(letters: Sequence[str], cuts: dict[int, tuple[float, float]], *, ends: tuple[float, float]) -> list[Piece]:
    bounds = [(ends[0], ends[0]), *(cuts[at] for at in sorted(cuts)), (ends[1], ends[1])]
    at = [0, *sorted(cuts), len(letters)]
    return [
        Piece(text="".join(letters[first:last]), x0=before[1], x1=max(after[0], before[1] + 1.0))
        for (first, last), (before, after) in zip(pairwise(at), pairwise(bounds), strict=True)
        if last > first
    ]


def _letter_centers(word: RecognizedWord) -> list[float]:
    """The x of each letter's middle: as recognised, else by the widths that letters have in most fonts."""
    text = "".join(word.text.split())
    if len(word.letters) == len(text):
        return list(word.letters)
    edges = letter_edges(text, x0=word.box.x0, x1=word.box.x1)
    return [(first + last) / 2 for first, last in pairwise(edges)]


def letter_edges(text: str, *, x0: float, x1: float) -> list[float]:
    """The x at which the letters of a text begin, and the end."""
    widths = [
        0.55 if letter in _NARROW else 1.4 if letter in _WIDE else 1.15 if letter.isupper() else 1.0 for letter in text
    ]
    sums = np.concatenate([[0.0], np.cumsum(widths)])
    return [float(x0 + (x1 - x0) * value / max(sums[-1], 1e-6)) for value in sums]
