"""Which of a paper's pictures a vision model is asked about: all but the small, the blank and the repeated ones.

A picture is skipped where
- its crop is no picture that can be opened;
- it is small: a crop with a side below 24 pixels, or, on a page, a box with a side below 24 points (an equation: below
  5 points, as a line of text is about 10 points high);
- it is blank: fewer than one pixel in a thousand stands out from the commonest grey (`pixels.Pixels.blank`);
- an earlier element has the very same crop, or, of figures, one that looks the same (`pixels.Pixels.shows_the_same`;
  equations and tables that look alike may differ by a letter).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingest.describing.pixels import Pixels
from paperscope.types import Equation, Figure, Paper, Place, SkippedImage, Table, crops_of

__all__ = ["Picked", "Pictured", "pick_images"]

Pictured = Table | Figure | Equation

_LEAST_PIXELS = 24
_LEAST_POINTS = 24.0
_LEAST_EQUATION = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Picked:
    """The elements whose pictures are to be read, a call each, and those that are skipped; in reading order."""

    wanted: tuple[Pictured, ...]
    skipped: tuple[SkippedImage, ...]


def pick_images(paper: Paper, crops: Mapping[str, bytes]) -> Picked:
    """Look at the first crop of each element; one that has no crop is neither wanted nor skipped. Raises KeyError."""
    wanted: list[Pictured] = []
    skipped: list[SkippedImage] = []
    seen: dict[tuple[str, ...], tuple[Pictured, Pixels]] = {}
    for element in paper.elements:
        if not isinstance(element, Pictured) or not (named := crops_of(element)):
            continue
        pixels = _read(crops[named[0]])
        if pixels is None:
            reason = "its crop can't be opened as a picture"
        else:
            reason = next(_reasons(element, pixels, seen), "")
        if reason:
            skipped.append(SkippedImage(element=element.id, crop=named[0], place=element.place, reason=reason))
        elif pixels is not None:
            wanted.append(element)
            seen[named] = (element, pixels)
    return Picked(wanted=tuple(wanted), skipped=tuple(skipped))


def _read(data: bytes) -> Pixels | None:
    try:
        return Pixels.read(data)
    except ValueError:
        return None


def _reasons(
    element: Pictured, pixels: Pixels, seen: Mapping[tuple[str, ...], tuple[Pictured, Pixels]]
) -> Iterator[str]:
    least = _LEAST_EQUATION if isinstance(element, Equation) else _LEAST_POINTS
    side = _least_side(element.place)
    if min(pixels.width, pixels.height) < _LEAST_PIXELS:
        yield f"too small: {pixels.width} × {pixels.height} pixels, the least side is {_LEAST_PIXELS}"
    elif side is not None and side < least:
        yield f"too small: {side:g} points, the least side is {least:g}"
    if pixels.blank:
        yield "blank: fewer than one pixel in a thousand stands out"
    same = seen.get(crops_of(element))
    if same is not None:
        yield f"the same picture as {_name(same[0])}"
    for other, others in seen.values():
        if isinstance(element, Figure) and isinstance(other, Figure) and pixels.shows_the_same(others):
            yield f"looks the same as {_name(other)}"


def _least_side(place: Place) -> float | None:
    """In points; None where boxes count lines."""
    box = place.box
    return None if place.by_line else round(min(box.x1 - box.x0, box.y1 - box.y0), 1)


def _name(element: Pictured) -> str:
    return element.label or element.id.rpartition("/")[2]
