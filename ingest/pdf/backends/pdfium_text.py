"""The characters of a page, read with PDFium."""

import ctypes
import sys
from collections.abc import Iterator
from math import hypot, sqrt
from typing import Any, NamedTuple, TypeAlias

import pypdfium2.raw as pdfium_c

from ingest.pdf.backend import Char
from ingest.pdf.backends.fonts import is_bold, is_italic, plain_name
from ingest.pdf.backends.glyphs import mended
from ingest.pdf.page.turning import quarter_turns, turned_box, turned_point, turned_size
from paperscope.types import Box

__all__ = ["chars_of"]

# pypdfium2 ships no types.
Untyped: TypeAlias = Any

_FLAG_ITALIC, _FLAG_BOLD = 1 << 6, 1 << 18
_NAME_LENGTH = 256
# PDFium writes these for the hyphen at the end of a line.
_HYPHENS = frozenset((0x02, 0xFFFE))
_UNKNOWN = 0xFFFD


class _Font(NamedTuple):
    handle: Untyped
    name: str
    bold: bool
    italic: bool


class _Glyph(NamedTuple):
    """A glyph in user space (y upwards): its letters, its spot, the way its line runs and its font.

    `size` is the font's size and `matrix` what the page does to it.
    """

    text: str
    origin: tuple[float, float]
    box: tuple[float, float, float, float]
    size: float
    matrix: tuple[float, float, float, float]
    font: _Font


def chars_of(page: Untyped, *, box: tuple[float, float, float, float]) -> tuple[Char, ...]:
    """The characters within a box of the page's user space (left, bottom, right, top), measured from its corner."""
    textpage = page.get_textpage()
    try:
        fonts = _Fonts(textpage)
        return tuple(char for glyph in _glyphs(textpage, fonts) if (char := _char(glyph, box, fonts)))
    finally:
        textpage.close()


def _char(glyph: _Glyph, page: tuple[float, float, float, float], fonts: "_Fonts") -> Char | None:
    a, b, c, d = glyph.matrix
    stretch = hypot(a, b) or 1.0
    size = glyph.size * (sqrt(abs(a * d - b * c)) or 1.0)
    direction = quarter_turns(a / stretch, -b / stretch)
    text, drop = mended(_whole(glyph.text), font=glyph.font.name)
    if direction is None or text.isspace() or not text.isprintable():
        return None
    left, bottom, right, top = page
    whole = right - left, top - bottom
    x0, baseline = turned_point(glyph.origin[0] - left, top - glyph.origin[1], *whole, turns=direction)
    baseline += drop * size
    width, height = turned_size(*whole, turns=direction)
    if not (0 <= x0 < width and 0 < baseline <= height):
        return None
    corners = Box(glyph.box[0] - left, top - glyph.box[3], glyph.box[2] - left, top - glyph.box[1])
    x1 = turned_box(corners, *whole, turns=direction).x1
    # The box also holds what hangs over the advance, as an italic f does.
    advance = x0 + fonts.width(glyph) * stretch
    if x0 < advance < x1 < advance + 0.5 * size:
        x1 = advance
    return Char(text, x0, x1, baseline, size, glyph.font.name, glyph.font.bold, glyph.font.italic, direction)


def _glyphs(textpage: Untyped, fonts: "_Fonts") -> Iterator[_Glyph]:
    """The glyphs that the page itself prints; PDFium parts a ligature into letters at one spot, here they are one."""
    x, y = ctypes.c_double(), ctypes.c_double()
    rect, matrix = pdfium_c.FS_RECTF(), pdfium_c.FS_MATRIX()
    last: _Glyph | None = None
    for index in range(pdfium_c.FPDFText_CountChars(textpage)):
        if pdfium_c.FPDFText_IsGenerated(textpage, index) == 1:
            continue
        text = _letter(pdfium_c.FPDFText_GetUnicode(textpage, index))
        pdfium_c.FPDFText_GetCharOrigin(textpage, index, x, y)
        pdfium_c.FPDFText_GetLooseCharBox(textpage, index, rect)
        pdfium_c.FPDFText_GetMatrix(textpage, index, matrix)
        origin, box = (x.value, y.value), (rect.left, rect.bottom, rect.right, rect.top)
        if last and origin == last.origin and box == last.box:
            last = last._replace(text=last.text + text)
            continue
        if last:
            yield last
        size = pdfium_c.FPDFText_GetFontSize(textpage, index)
        last = _Glyph(text, origin, box, size, (matrix.a, matrix.b, matrix.c, matrix.d), fonts.at(index))
    if last:
        yield last


def _letter(code: int) -> str:
    if code in _HYPHENS:
        return "-"
    return chr(code if 0 < code <= sys.maxunicode else _UNKNOWN)


def _whole(text: str) -> str:
    """Letters beyond the basic plane come as two halves."""
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Fonts:
    """The fonts of a text page's characters, each looked at once."""

    def __init__(self, textpage: Untyped) -> None:
        self._textpage = textpage
        self._known: dict[int, _Font] = {}
        self._widths: dict[tuple[str, str], float] = {}
        self._buffer = ctypes.create_string_buffer(_NAME_LENGTH)
        self._width = ctypes.c_float()

    def width(self, glyph: _Glyph) -> float:
        """The glyph's advance before the page stretches it, 0 if unknown."""
        if not glyph.font.handle or len(glyph.text) != 1:
            return 0.0
        key = glyph.font.name, glyph.text
        if key not in self._widths:
            known = pdfium_c.FPDFFont_GetGlyphWidth(glyph.font.handle, ord(glyph.text), 1.0, self._width)
            self._widths[key] = self._width.value if known else 0.0
        return self._widths[key] * glyph.size

    def at(self, index: int) -> _Font:
        """The font of a character."""
        item = pdfium_c.FPDFText_GetTextObject(self._textpage, index)
        handle = pdfium_c.FPDFTextObj_GetFont(item) if item else None
        if not handle:
            return _Font(None, "", bold=False, italic=False)
        address = ctypes.cast(handle, ctypes.c_void_p).value or 0
        if address not in self._known:
            self._known[address] = self._font(handle)
        return self._known[address]

    def _font(self, handle: Untyped) -> _Font:
        pdfium_c.FPDFFont_GetBaseFontName(handle, self._buffer, _NAME_LENGTH)
        name = plain_name(self._buffer.value.decode("utf-8", "replace"))
        flags = max(pdfium_c.FPDFFont_GetFlags(handle), 0)
        return _Font(
            handle,
            name,
            bold=bool(flags & _FLAG_BOLD) or is_bold(name),
            italic=bool(flags & _FLAG_ITALIC) or is_italic(name),
        )
