"""Fonts whose letters are all equally wide, in which programs are set."""

import re

__all__ = ["is_monospaced"]

_NAMES = re.compile(
    r"mono(?!type)|courier|typewriter|cmtt|sftt|cmsltt|ectt|txtt|consola|menlo|monaco|inconsolata|fira ?code|"
    r"source ?code|ubuntumono|lucida ?console|andale|luxi ?mono|bera ?mono|-tt\b|nimbusmon",
    re.IGNORECASE,
)


def is_monospaced(font: str) -> bool:
    """Whether a font's name says that it is monospaced."""
    return bool(_NAMES.search(font))
