"""The levels of headings: by their numbers, else by the outline, else by how they are set."""

import re
from collections.abc import Sequence

from ingest.pdf.text.heading_styles import FIXED, LineStyle, split_number

__all__ = ["is_roman_scheme", "levels_of"]

_ROMAN = re.compile(r"[IVX]+")
_SECOND_ROMAN = re.compile(r"(?:II|III|IV)\.?\s")


def is_roman_scheme(texts: Sequence[str]) -> bool:
    """Whether sections count I, II, III: then A, B are subsections, and 1), a) what is below them."""
    return any(_SECOND_ROMAN.match(text) for text in texts)


def levels_of(texts: Sequence[str], styles: Sequence[LineStyle], *, outlined: Sequence[int]) -> list[int]:
    """A level from 1 for each heading; `outlined` are the levels in the file's outline, 0 for those not in it."""
    roman = is_roman_scheme(texts)
    roman_styles = {style for text, style in zip(texts, styles, strict=True) if _SECOND_ROMAN.match(text)}
    known = [
        _by_number(text, roman=roman, sectional=style in roman_styles)
        for text, style in zip(texts, styles, strict=True)
    ]
    numbered: dict[LineStyle, int] = {}
    for level, style in zip(known, styles, strict=True):
        if level:
            numbered.setdefault(style, level)
    free = {style for level, style in zip(known, styles, strict=True) if not level}
    ranks = {style: rank for rank, style in enumerate(sorted(free, key=lambda style: style.rank), start=1)}
    return [
        level or (1 if FIXED.fullmatch(text) else in_outline or numbered.get(style) or min(ranks[style], 4))
        for level, text, style, in_outline in zip(known, texts, styles, outlined, strict=True)
    ]


def _by_number(text: str, *, roman: bool, sectional: bool) -> int:
    """The level that a heading's number says, 0 without a number."""
    number, _ = split_number(text)
    if not number:
        return 0
    if not roman:
        return number.count(".") + 1
    if sectional and _ROMAN.fullmatch(number):
        return 1
    if number.isalpha() and len(number) == 1:
        return 2 if not sectional else 1
    return 3 if number.isdigit() and text[len(number) :][:1] == ")" else number.count(".") + 1
