"""Styles by the names of fonts, and letters of known private codes; `printed_glyphs.py` compares what is drawn."""

import re
from functools import cache

__all__ = ["glyph_text", "is_bold", "is_italic", "is_monospaced", "is_small_capitals"]

_BOLD = re.compile(
    r"bold|medi(?:\b|ital)|medium|black|heavy|-?bx\d|cm(mi)?b|^sfsx\d|^Lin(Libertine|Biolinum)\w*T[BZ]", re.IGNORECASE
)
_ITALIC = re.compile(r"ital|obl|cmti|sfti|cmssi|sfsi|slant|-it\b", re.IGNORECASE)
_MONOSPACED = re.compile(
    r"mono(?!type)|courier|typewriter|cmtt|sftt|cmsltt|ectt|txtt|consola|menlo|monaco|inconsolata|fira ?code|"
    r"source ?code|lucida ?console|andale|-tt\b|nimbusmon",
    re.IGNORECASE,
)
_SMALL_CAPITALS = re.compile(r"csc\d|sfcc|small-?cap|-sc\b|capitals", re.IGNORECASE)


# With the Greek capitals, for which Adobe's list of glyph names has the signs of an increment and of the ohm.
_LIGATURES = dict(zip("\u2206\u2126ﬀﬁﬂﬃﬄﬅﬆ\u00ad", "Δ Ω ff fi fl ffi ffl st st -".split(), strict=True))
_EXTENSION_FONT = re.compile(r"CMEX\d|LMMathExtension", re.IGNORECASE)
# A font without a name of its own, which an engine names by its kind or by its key in the page's resources. Fonts of
# bitmaps have no names for glyphs: a glyph's text is its code in TeX's encoding of text.
_BITMAP_FONT = re.compile(r"(?:Type3\b.*|[A-Z]{1,2}\d{1,4})?")
# Ligatures of the encoding OT1; quotation marks, dashes and ligatures of T1; the bullet of TS1. OT1 has accents and
# letters of other languages where T1 has these.
_TEX_CODES = (
    _LIGATURES
    | dict(zip(map(chr, range(0x0B, 0x10)), ("ff", "fi", "fl", "ffi", "ffl"), strict=True))
    | {
        **dict(zip(map(chr, range(0x10, 0x17)), "“”„«»–—", strict=True)),
        **dict(zip(map(chr, range(0x1B, 0x20)), ("ff", "fi", "fl", "ffi", "ffl"), strict=True)),
        "\x88": "•",
    }
)
_SYMBOL_FONT = re.compile(r"CMSY\d|LMMathSymbols", re.IGNORECASE)
# How far below its origin the baseline of a delimiter's line is, in letter sizes, by the delimiter's size in cmex10:
# half its height, less the axis 0.25 above the baseline (The TeXbook, appendix F).
_BIG, _LARGER, _HUGE, _GIANT, _PIECE = 0.81, 1.11, 1.41, 1.71, 1.15
# Variation selectors after a delimiter name its size; nothing is printed for them.
_SIZES = {"\ufe00": _BIG, "\ufe01": _LARGER, "\ufe02": _HUGE, "\ufe03": _GIANT}
_DELIMITERS = frozenset("()[]{}⟨⟩⌊⌋⌈⌉|‖/\\√")
_OPERATORS = dict.fromkeys("∑∏⋃⋂", (0.75, 0.95)) | {"∫": (0.75, 1.36)}


@cache
def is_bold(font: str) -> bool:
    """Return whether a font of this name is bold."""
    return bool(_BOLD.search(font))


@cache
def is_italic(font: str) -> bool:
    """Return whether a font of this name is italic or slanted."""
    return bool(_ITALIC.search(font))


@cache
def is_monospaced(font: str) -> bool:
    """Return whether a font of this name is monospaced."""
    return bool(_MONOSPACED.search(font))


@cache
def is_small_capitals(font: str) -> bool:
    """Return whether a font of this name prints lower-case letters as small capitals."""
    return bool(_SMALL_CAPITALS.search(font))


def _extension() -> dict[str, tuple[str, float]]:
    """Return the signs of TeX's extension font by code.

    With each sign: how far its line's baseline is below its origin, in letter sizes. Glyphs extend down from their top;
    delimiters and operators are centred on the axis, 0.25 above the baseline (The TeXbook, appendices F and G).
    """
    table: dict[str, tuple[str, float]] = {}
    for first, signs, drop in (
        (0x00, "()[]⌊⌋⌈⌉{}⟨⟩|‖/\\", _BIG),
        (0x10, "()", _LARGER),
        (0x12, "()[]⌊⌋⌈⌉{}⟨⟩/\\", _HUGE),
        (0x20, "()[]⌊⌋⌈⌉{}⟨⟩/\\", _GIANT),
        (0x30, "⎛⎞⎡⎤⎣⎦⎢⎥⎧⎫⎩⎭⎨⎬⎪", _PIECE),
        (0x40, "⎝⎠⎜⎟", _PIECE),
        (0x44, "⟨⟩", _LARGER),
        (0x50, "∑∏∫⋃⋂⊎⋀⋁", 0.75),
        (0x58, "∑∏∫⋃⋂⊎⋀⋁", 0.95),
        (0x5A, "∫", 1.36),
        (0x68, "[]⌊⌋⌈⌉{}", _LARGER),
        (0x70, "√", 0.9),
        (0x71, "√", _LARGER),
        (0x72, "√", _HUGE),
        (0x73, "√", _GIANT),
        (0x74, "⎷⎸⎸", _PIECE),
        (0x23AF, " ", 0.0),
        (0xF8EB, "⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭", _PIECE),  # Adobe's private codes.
    ):
        table.update((chr(first + place), (sign, drop)) for place, sign in enumerate(signs))
    return table


_EXTENSION = {sign: (sign, drops[0]) for sign, drops in _OPERATORS.items()} | _extension()


def glyph_text(text: str, *, font: str, after: str = "") -> tuple[str, float]:
    """Return the letters of a glyph, and how far below its origin its line's baseline is, in letter sizes.

    Args:
        text: The glyph's text in the file; a glyph that prints nothing becomes a space.
        font: The name of its font.
        after: The text that follows in the file; a size there shows that the file names the glyph by its sign, not by
            its code.
    """
    if text in _SIZES:
        return " ", 0.0
    if _is_extension_font(font):
        if text in _DELIMITERS and after in _SIZES:
            return text, _SIZES[after]
        if text in _OPERATORS and after in _SIZES:
            return text, _OPERATORS[text][after > "\ufe00"]
        if text in _EXTENSION:
            return _EXTENSION[text]
    if text == "√" and _SYMBOL_FONT.search(font):
        return "√", 0.8
    letters = _TEX_CODES if _is_bitmap_font(font) else _LIGATURES
    return letters.get(text, text), 0.0


@cache
def _is_extension_font(font: str) -> bool:
    return bool(_EXTENSION_FONT.search(font))


@cache
def _is_bitmap_font(font: str) -> bool:
    return _BITMAP_FONT.fullmatch(font) is not None
