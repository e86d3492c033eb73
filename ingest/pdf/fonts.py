"""What a font's name says about its letters."""

import re
from functools import cache

__all__ = ["is_bold", "is_italic", "plain_name"]

_BOLD = re.compile(
    r"bold|medi(?:\b|ital)|medium|black|heavy|-?bx\d|cm(mi)?b|^Lin(Libertine|Biolinum)\w*T[BZ]", re.IGNORECASE
)
_ITALIC = re.compile(r"ital|obl|cmti|sfti|cmssi|sfsi|slant|-it\b", re.IGNORECASE)
_SUBSET = re.compile(r"^[A-Z]{6}\+")


@cache
def is_bold(font: str) -> bool:
    """Whether a font of this name is bold."""
    return bool(_BOLD.search(font))


@cache
def is_italic(font: str) -> bool:
    """Whether a font of this name is italic or slanted."""
    return bool(_ITALIC.search(font))


def plain_name(font: str) -> str:
    """The name without the tag of an embedded subset (`ABCDEF+Times` -> `Times`)."""
    return _SUBSET.sub("", font)
