"""What a font's name says about its letters."""

import re
from functools import cache

__all__ = ["is_bold", "is_italic", "is_monospaced", "is_small_capitals", "plain_name"]

_BOLD = re.compile(
    r"bold|medi(?:\b|ital)|medium|black|heavy|-?bx\d|cm(mi)?b|^Lin(Libertine|Biolinum)\w*T[BZ]", re.IGNORECASE
)
_ITALIC = re.compile(r"ital|obl|cmti|sfti|cmssi|sfsi|slant|-it\b", re.IGNORECASE)
_MONOSPACED = re.compile(
    r"mono(?!type)|courier|typewriter|cmtt|sftt|cmsltt|ectt|txtt|consola|menlo|monaco|inconsolata|fira ?code|"
    r"source ?code|lucida ?console|andale|-tt\b|nimbusmon",
    re.IGNORECASE,
)
_SMALL_CAPITALS = re.compile(r"csc\d|sfcc|small-?cap|-sc\b|capitals", re.IGNORECASE)
_SUBSET = re.compile(r"^[A-Z]{6}\+")


@cache
def is_bold(font: str) -> bool:
    """Whether a font of this name is bold."""
    return bool(_BOLD.search(font))


@cache
def is_italic(font: str) -> bool:
    """Whether a font of this name is italic or slanted."""
    return bool(_ITALIC.search(font))


@cache
def is_monospaced(font: str) -> bool:
    """Whether the letters of a font of this name are all equally wide, as those of programs are."""
    return bool(_MONOSPACED.search(font))


@cache
def is_small_capitals(font: str) -> bool:
    """Whether a font of this name prints small letters as capitals."""
    return bool(_SMALL_CAPITALS.search(font))


def plain_name(font: str) -> str:
    """The name without the tag of an embedded subset (`ABCDEF+Times` -> `Times`)."""
    return _SUBSET.sub("", font)
