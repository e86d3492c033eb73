"""What a font's glyphs mean where the file does not say it."""

import re

__all__ = ["mended"]

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00ad": "-"}
_EXTENSION_FONT = re.compile(r"CMEX\d", re.IGNORECASE)
_TEXT_OPERATORS = {"P": "∑", "Q": "∏", "R": "∫", "S": "⋃", "T": "⋂", "∑": "∑", "∏": "∏", "∫": "∫"}
_DISPLAY_OPERATORS = {"X": "∑", "Y": "∏", "Z": "∫", "[": "⋃", "\\": "⋂"}


def mended(text: str, *, font: str) -> tuple[str, float]:
    """The glyph's letters, and how far below its origin (in letter sizes) its line's baseline lies.

    TeX's extension font hangs its large operators from their top and encodes them as capitals (The TeXbook,
    appendix F).
    """
    if _EXTENSION_FONT.search(font):
        if text in _DISPLAY_OPERATORS:
            return _DISPLAY_OPERATORS[text], 0.95
        if text in _TEXT_OPERATORS:
            return _TEXT_OPERATORS[text], 0.75
    return _LIGATURES.get(text, text), 0.0
