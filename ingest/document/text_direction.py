"""The order in which text of right-to-left scripts is read, from the order in which it is printed."""

import re
from itertools import groupby
from unicodedata import bidirectional

__all__ = ["logical_order"]

_RIGHT_TO_LEFT = frozenset(("R", "AL"))
_LEFT_TO_RIGHT = frozenset(("L", "EN", "AN"))
_RIGHT_TO_LEFT_LETTER = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SWAPPED = re.compile(r"\)([^()]{0,200})\(")


def logical_order(printed: str) -> str:
    """Return a line that is printed from left to right in the order in which it is read.

    This undoes the Unicode bidirectional algorithm (UAX #9) for a paragraph of one direction: that of most of its
    letters. A line without right-to-left letters is returned as it is.

    >>> logical_order("91.2 \u05e7\u05d5\u05d9\u05d3")
    '\u05d3\u05d9\u05d5\u05e7 91.2'
    """
    if not _RIGHT_TO_LEFT_LETTER.search(printed):
        return printed
    kinds = [bidirectional(sign) for sign in printed]
    backward = sum(kind in _RIGHT_TO_LEFT for kind in kinds) >= kinds.count("L")
    inner = _LEFT_TO_RIGHT if backward else _RIGHT_TO_LEFT
    sides = _sides(kinds, inner)
    runs = [
        (inside, "".join(sign for _, sign in run)) for inside, run in groupby(zip(sides, printed, strict=True), _side)
    ]
    ordered = reversed(runs) if backward else runs
    text = "".join(signs if inside == backward else signs[::-1] for inside, signs in ordered)
    # Some files store brackets as they look.
    return _SWAPPED.sub(r"(\1)", text) if _SWAPPED.search(text) and text.find(")") < text.find("(") else text


def _side(placed: tuple[bool, str]) -> bool:
    return placed[0]


def _sides(kinds: list[str], inner: frozenset[str]) -> list[bool]:
    """Return which signs run in the other direction than the line: from one such letter or number to the next one, with
    the signs between them and the signs of numbers around them."""
    sides = [kind in inner for kind in kinds]
    outer = _RIGHT_TO_LEFT | _LEFT_TO_RIGHT
    start = None
    for at, kind in enumerate(kinds):
        if sides[at]:
            if start is not None:
                sides[start:at] = [True] * (at - start)
            start = at
        elif kind in outer:
            start = None
    for at, kind in enumerate(kinds):
        sides[at] = sides[at] or (kind == "ET" and "EN" in kinds[max(at - 1, 0) : at + 2])
    return sides
