"""Finds the glyphs of a PDF file that show another character than its text layer says, by drawing each once."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from typing import TypeAlias

import numpy as np

from ingest.pdf.glyph_shapes import Drawing, GlyphShapes, Shape, is_meaningless, shape_of
from ingest.pdf.pymupdf_import import Untyped, pymupdf

__all__ = ["GlyphPlace", "PrintedGlyphs", "glyph_place"]

GlyphPlace: TypeAlias = tuple[str, float, float]
"""The name of a glyph's font, with its subset prefix, and its origin on the page to a tenth of a point."""

_FAILURES = (RuntimeError, ValueError, TypeError, LookupError, MemoryError, pymupdf.mupdf.FzErrorBase)
_EM = 64  # Pixels.
_NO_CLIP = 100 * _EM  # No glyph is larger.
# The fonts that MuPDF has built in: Helvetica, Times, Courier, Symbol, Dingbats and a font of most scripts.
_REFERENCE_FONTS = tuple("helv heit hebo hebi tiro tiit tibo tibi cour coit cobo cobi symb zadb china-s".split())
_STRICT = {"≥": ">", "≤": "<"}
_ARM = _EM // 6  # How far the second arm of "⩾" is below the first.
_MOST_GLYPHS = 2000  # Further glyphs of a font are believed; only fonts of CJK have as many.
_UNTRUSTED = 0.5  # If more of the digits, letters or signs of a font are contradicted, none of them is believed.


def glyph_place(font: str, origin: tuple[float, float]) -> GlyphPlace:
    """Return the place of a glyph of a font."""
    return font, round(origin[0], 1), round(origin[1], 1)


class PrintedGlyphs:
    """The glyphs of an open file, whose fonts are each compared with their codes.

    A glyph whose shape contradicts its code is read by its shape. So are all digits, letters or signs of a font if most
    of them contradict their codes. Fonts that are not embedded, those drawn by instructions (Type 3) and those that
    share a name on a page are believed.
    """

    def __init__(self, document: Untyped) -> None:
        self._document = document
        self._fonts: dict[int, _Font | None] = {}

    def corrections(self, page: Untyped) -> Mapping[GlyphPlace, str]:
        """Return the right characters of a page's glyphs that its text layer has wrong; `UNKNOWN_CHARACTER` for one
        whose shape is not certain either."""
        fonts = self._fonts_of(page)
        glyphs = [
            (font, glyph, text, span["font"], origin)
            for span in page.get_texttrace()
            if (font := fonts.get(span["font"])) is not None
            for glyph, text, origin in _glyphs(span["chars"])
        ]
        for font, glyph, text, _, _ in glyphs:
            font.compare(glyph, text)
        return {
            glyph_place(name, origin): right
            for font, glyph, text, name, origin in glyphs
            if font.is_doubted and (right := font.read(glyph, text)) != text
        }

    def _fonts_of(self, page: Untyped) -> dict[str, "_Font"]:
        """Return the embedded fonts of a page by name, without those that share one."""
        named: dict[str, list[_Font]] = {}
        for xref, extension, kind, *_ in dict.fromkeys(page.get_fonts(full=True)):
            if xref not in self._fonts:
                embedded = extension != "n/a" and kind != "Type3"
                self._fonts[xref] = self._load(xref) if embedded else None
            if (font := self._fonts[xref]) is not None and font not in named.setdefault(font.name, []):
                named[font.name].append(font)
        return {name: fonts[0] for name, fonts in named.items() if len(fonts) == 1}

    def _load(self, xref: int) -> "_Font | None":
        """Return a font as MuPDF draws it, None if it can't be read."""
        library = pymupdf.mupdf
        try:
            file = library.pdf_document_from_fz_document(self._document.this)
            loaded = library.ll_pdf_load_font(file.m_internal, None, library.pdf_load_object(file, xref).m_internal)
            font = library.FzFont(library.ll_fz_keep_font(loaded.font))
            library.ll_pdf_drop_font(loaded)
        except _FAILURES:
            return None
        return _Font(font)


class _Font:
    """A font of a file, with what is known of its glyphs by their numbers and the characters in the file."""

    def __init__(self, font: Untyped) -> None:
        self.name = str(pymupdf.mupdf.fz_font_name(font))
        self._font = font
        self._agrees: dict[tuple[int, str], bool] = {}
        self._named, self._contradicted = Counter[str](), Counter[str]()
        self._shape = cache(self._drawn_shape)
        self._by_shape = cache(lambda shape: _shapes().read(shape))
        self.is_doubted = False
        """Whether any code is contradicted by the shape of its glyph, or means nothing."""

    def compare(self, glyph: int, text: str) -> None:
        """Compare a glyph with the character that the file says it is, if it is new."""
        if (glyph, text) not in self._agrees and len(self._agrees) < _MOST_GLYPHS:
            shape = self._shape(glyph)
            agrees = self._agrees[glyph, text] = shape is None or _shapes().agrees(shape, text)
            self.is_doubted |= not agrees
            if not is_meaningless(text):
                self._named[_kind(text)] += 1
                self._contradicted[_kind(text)] += not agrees

    def read(self, glyph: int, text: str) -> str:
        """Return the character of a glyph: by its shape if that contradicts its code or those of most of its kind."""
        kind = _kind(text)
        if self._agrees.get((glyph, text), True) and self._contradicted[kind] <= _UNTRUSTED * self._named[kind]:
            return text
        shape = self._shape(glyph)
        return self._by_shape(shape) if shape else text

    def _drawn_shape(self, glyph: int) -> Shape | None:
        drawing = _drawing(self._font, glyph)
        return shape_of(drawing) if drawing else None


def _kind(text: str) -> str:
    return "digit" if text.isdigit() else "letter" if text.isalpha() else "sign"


def _glyphs(chars: Sequence[Untyped]) -> Iterator[tuple[int, str, tuple[float, float]]]:
    """Yield the glyphs of a span with their numbers, characters and origins; ligatures are several characters."""
    for (code, glyph, origin, _), after in zip_longest(chars, chars[1:]):
        if glyph >= 0 and not (after and after[1] < 0 and after[0] != ord(" ")):
            yield glyph, chr(code), origin


def _drawing(font: Untyped, glyph: int) -> Drawing | None:
    """Draw a glyph of a font, None if that fails."""
    library = pymupdf.mupdf
    matrix, clip = library.FzMatrix(_EM, 0, 0, -_EM, 0, 0), library.FzIrect(-_NO_CLIP, -_NO_CLIP, _NO_CLIP, _NO_CLIP)
    try:
        drawn = library.fz_render_glyph_pixmap(font, glyph, matrix, clip, 8)
        if drawn.m_internal is None or not drawn.w() or not drawn.h():
            return None
        samples = np.frombuffer(library.ll_fz_pixmap_samples_memoryview(drawn.m_internal), dtype=np.uint8)
    except _FAILURES:
        return None
    ink = samples.reshape(drawn.h(), drawn.stride())[:, : drawn.w()].copy()
    return Drawing(ink=ink, left=drawn.x(), top=drawn.y(), em=_EM)


@cache
def _shapes() -> GlyphShapes:
    """Return the shapes of the built-in fonts, which are drawn once per process."""
    fonts = [pymupdf.Font(name) for name in _REFERENCE_FONTS]

    def drawn(text: str) -> list[Drawing]:
        glyphs = ((font.this, font.has_glyph(ord(text))) for font in fonts)
        return [drawing for font, glyph in glyphs if glyph and (drawing := _drawing(font, glyph))]

    def with_slanted(text: str) -> list[Drawing]:
        return [*drawn(text), *map(_slanted, drawn(_STRICT[text]) if text in _STRICT else ())]

    return GlyphShapes(with_slanted)


def _slanted(strict: Drawing) -> Drawing:
    """Return "⩾" for ">", which no built-in font has: its lower arm is printed again below."""
    ink = strict.ink
    lower = ink[ink.shape[0] // 2 :]
    moved = np.zeros((ink.shape[0] + _ARM, ink.shape[1]), dtype=np.uint8)
    moved[: len(ink)] = ink
    moved[-len(lower) :] = np.maximum(moved[-len(lower) :], lower)
    return replace(strict, ink=moved)
