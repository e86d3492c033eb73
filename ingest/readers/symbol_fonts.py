"""Characters of symbol fonts (Symbol, Wingdings, Webdings, Zapf Dingbats), whose codes are their own, as Unicode."""

import re
from collections.abc import Mapping
from itertools import chain

__all__ = ["symbol_character", "unicode_text"]

_UNKNOWN = "\ufffd"
# Word stores the codes of a symbol font from here.
_PRIVATE = 0xF000
_PRIVATE_CODES = re.compile("[\uf020-\uf0ff]")
_CODES = re.compile("[\x20-\xff\uf020-\uf0ff]")

# Adobe's Symbol encoding from 0x20 and from 0xA0 (https://www.unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt).
_SYMBOL_LOW = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SYMBOL_HIGH = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\ufffd⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
# The signs of Microsoft's fonts that documents use: ticks, crosses, arrows, bullets, numbers in circles.
_WINGDINGS = {
    0x21: "✏", 0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x36: "⌛", 0x3F: "✍", 0x41: "✌", 0x45: "☜", 0x46: "☞", 0x47: "☝",
    0x48: "☟", 0x4A: "☺", 0x4C: "☹", 0x51: "✈", 0x52: "☼", 0x54: "❄", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "□",
    0x70: "□", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x9E: "·", 0x9F: "•",
    0xA0: "▪", 0xA1: "○", 0xA4: "◉", 0xA5: "◎", 0xA7: "▪", 0xA8: "□", 0xAA: "✦", 0xAB: "★", 0xAC: "✶", 0xB2: "⟡",
    0xD5: "⌫", 0xD6: "⌦", 0xD8: "➢", 0xDC: "➲", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE3: "↖", 0xE4: "↗",
    0xE5: "↙", 0xE6: "↘", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xF3: "⬄", 0xF4: "⇳", 0xFB: "✗",
    0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
    **dict(zip(range(0x80, 0x8B), "⓪①②③④⑤⑥⑦⑧⑨⑩", strict=True)),
    **dict(zip(range(0x8B, 0x96), "⓿❶❷❸❹❺❻❼❽❾❿", strict=True)),
}  # fmt: skip
_WINGDINGS_2 = {
    0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x97: "●", 0xA2: "■", 0xA3: "□",
}  # fmt: skip
_WINGDINGS_3 = {
    0x66: "←", 0x67: "→", 0x68: "↑", 0x69: "↓", 0x70: "▲", 0x71: "▼", 0x72: "△", 0x73: "▽", 0x74: "◀", 0x75: "▶",
}  # fmt: skip
_WEBDINGS = {
    0x33: "◀", 0x34: "▶", 0x35: "▲", 0x36: "▼", 0x61: "✓", 0x63: "□", 0x67: "■", 0x6E: "●", 0x72: "✗",
}  # fmt: skip
# Unicode's block of dingbats has their order, but for those that it already had.
_ZAPF_DINGBATS = {
    **{code: chr(0x2700 + code - 0x20) for code in chain(range(0x21, 0x7F), range(0xA1, 0xF0), range(0xF1, 0xFF))},
    0x20: " ", 0x25: "☎", 0x2A: "☛", 0x2B: "☞", 0x48: "★", 0x6C: "●", 0x6E: "■", 0x73: "▲", 0x74: "▼", 0x75: "◆",
    0x77: "◗", 0xA8: "♣", 0xA9: "♦", 0xAA: "♥", 0xAB: "♠", 0xD5: "→", 0xD6: "↔", 0xD7: "↕",
    **dict(zip(range(0xAC, 0xB6), "①②③④⑤⑥⑦⑧⑨⑩", strict=True)),
}  # fmt: skip
_FONTS: Mapping[str, Mapping[int, str]] = {
    "symbol": {**dict(enumerate(_SYMBOL_LOW, start=0x20)), **dict(enumerate(_SYMBOL_HIGH, start=0xA0))},
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    "wingdings 3": _WINGDINGS_3,
    "webdings": _WEBDINGS,
    "zapf dingbats": _ZAPF_DINGBATS,
    "zapfdingbats": _ZAPF_DINGBATS,
}


def symbol_character(font: str, code: int) -> str:
    """Return the Unicode character for a code in a font; "\\ufffd" for a picture without one."""
    known = _FONTS.get(font.strip().casefold())
    own = code - _PRIVATE if _PRIVATE <= code <= _PRIVATE + 0xFF else code
    if known is not None:
        return known.get(own, " " if own == 0x20 else _UNKNOWN)
    # Without a known font, a private code is the Symbol font's.
    character = _FONTS["symbol"].get(own, _UNKNOWN) if own != code else chr(code) if 0 < code <= 0x10FFFF else _UNKNOWN
    return _UNKNOWN if "\ud800" <= character <= "\udfff" else character


def unicode_text(text: str, *, font: str) -> str:
    """Return the text of a run, which may be in a symbol font, in Unicode."""
    if font.strip().casefold() in _FONTS:
        return _CODES.sub(lambda match: symbol_character(font, ord(match[0])), text)
    return _PRIVATE_CODES.sub(lambda match: symbol_character(font, ord(match[0])), text)
