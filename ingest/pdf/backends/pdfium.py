"""PDFium as a backend: the only module that imports it. Scripts and links are never followed."""

import ctypes
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from math import hypot, sqrt
from typing import Any, NamedTuple, TypeAlias

import pypdfium2
import pypdfium2.raw as pdfium_c

from ingest.document.geometry import (
    Shape,
    bounding_box,
    quarter_turns,
    sort_shapes,
    turned_box,
    turned_page,
    turned_point,
    turned_size,
)
from ingest.document.pages import Char, OutlineEntry, PageContent, PageReadError, locked_error
from ingest.pdf.backends.fonts import glyph_text, is_bold, is_italic, plain_name
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box

__all__ = ["PdfiumBackend"]

# pypdfium2 has no types; its values are untyped in this module only.
Untyped: TypeAlias = Any

_FAILURES = (pypdfium2.PdfiumError, OSError, ValueError)
_Point: TypeAlias = tuple[float, float]

_MAX_DEPTH = 16  # Form objects may be nested without limit; PDFium itself stops at a similar depth.
_UNIT_SQUARE = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))  # A picture, which its matrix maps to the page.
_NEAR_WHITE = 0.98 * 255  # A lighter fill is not visible on paper.
_LEVEL = 0.01  # Points; the tolerance for the sides of a rectangle to be level.
_CORNERS = 4
_FLAG_ITALIC, _FLAG_BOLD = 1 << 6, 1 << 18  # Font descriptor flags (ISO 32000-1, table 123).
_NAME_LENGTH = 256  # Bytes; longer font names are cut.
# PDFium returns these for a hyphen at the end of a line.
_HYPHENS = frozenset((0x02, 0xFFFE))
_UNKNOWN = 0xFFFD  # Unicode's replacement character.


class PdfiumBackend:
    """Opens PDF files with PDFium."""

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator["PdfiumDocument"]:
        """See `Backend.open`."""
        try:
            document = pypdfium2.PdfDocument(data, password=password)
        except _FAILURES as error:
            if getattr(error, "err_code", None) in (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY):
                raise locked_error(name, password=password) from error
            raise PaperFileError(f"{name!r} is damaged and can't be opened. Fetch the file again.") from error
        try:
            yield PdfiumDocument(document)
        finally:
            document.close()


class PdfiumDocument:
    """An open PDF file."""

    def __init__(self, document: Untyped) -> None:
        self._document = document
        self.title = self._metadata("Title")
        self.authors = self._metadata("Author")
        # PDFium does not give the XMP.
        self.metadata = {name.lower(): self._metadata(name) for name in ("Subject", "doi", "DOI", "arXivID")}

    @property
    def page_count(self) -> int:
        """See `Document.page_count`."""
        return max(len(self._document), 0)

    @property
    def repaired(self) -> bool:
        """See `Document.repaired`; PDFium reports only whether the cross-reference table is valid."""
        return not pdfium_c.FPDF_DocumentHasValidCrossReferenceTable(self._document)

    @property
    def outline(self) -> Sequence[OutlineEntry]:
        """See `Document.outline`."""
        try:
            return tuple(map(_outline_entry, self._document.get_toc()))
        except _FAILURES:
            return ()

    def read(self, number: int) -> PageContent:
        """See `Document.read`."""
        with self._page(number) as page:
            content = _page_content(page, number=number)
            return turned_page(content, turns=-page.get_rotation() // 90)

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        """See `Document.render`."""
        with self._page(number) as page:
            return [_picture(page, box, scale=dpi / 72, turns=turns) for box in boxes]

    def cells(self, number: int, box: Box) -> Sequence[Box]:  # noqa: ARG002 -- the protocol's
        """See `Document.cells`; PDFium finds no tables."""
        return ()

    @contextmanager
    def _page(self, number: int) -> Iterator[Untyped]:
        """A page that is closed at the end; failures become `PageReadError`."""
        try:
            page = self._document[number - 1]
            try:
                yield page
            finally:
                page.close()
        except _FAILURES as error:
            raise PageReadError(str(error) or type(error).__name__) from error

    def _metadata(self, key: str) -> str:
        try:
            return str(self._document.get_metadata_value(key)).strip()
        except _FAILURES:
            return ""


def _outline_entry(bookmark: Untyped) -> OutlineEntry:
    target = bookmark.get_dest()
    index = target.get_index() if target else None
    return OutlineEntry(
        level=bookmark.level + 1, title=bookmark.get_title().strip(), page=0 if index is None else index + 1
    )


def _picture(page: Untyped, box: Box, *, scale: float, turns: int) -> bytes:
    size = page.get_size()
    width, height = turned_size(*size, turns=turns)
    x0, y0, x1, y1 = turned_box(box, *size, turns=turns)
    cut = [max(0.0, length) for length in (x0, height - y1, width - x1, y0)]
    bitmap = page.render(scale=scale, rotation=-90 * turns % 360, crop=cut, draw_annots=False)
    out = io.BytesIO()
    bitmap.to_pil().convert("RGB").save(out, format="PNG")
    bitmap.close()
    return out.getvalue()


def _page_content(page: Untyped, *, number: int) -> PageContent:
    """Returns the page's content, measured on the unrotated page from the top left corner of its visible box."""
    left, bottom, right, top = page.get_bbox()
    found: list[Shape] = []
    images: list[Box] = []
    drawings: list[Box] = []
    for item in page.get_objects((pdfium_c.FPDF_PAGEOBJ_PATH, pdfium_c.FPDF_PAGEOBJ_IMAGE), max_depth=_MAX_DEPTH):
        matrix = _matrix(item)
        if item.type == pdfium_c.FPDF_PAGEOBJ_IMAGE:
            images.append(_bounds(_placed(_UNIT_SQUARE, matrix, left=left, top=top)))
            continue
        paths = [path._replace(points=_placed(path.points, matrix, left=left, top=top)) for path in _subpaths(item)]
        inked = _is_inked(item)
        found.extend(shape for path in paths for shape in _shapes(path, inked=inked))
        if paths:
            drawings.append(_bounds([point for path in paths for point in path.points]))
    shapes = sort_shapes(found)
    return PageContent(
        number=number,
        width=right - left,
        height=top - bottom,
        chars=_chars_of(page, box=(left, bottom, right, top)),
        horizontal=shapes.horizontal,
        vertical=shapes.vertical,
        fills=shapes.fills,
        images=tuple(images),
        drawings=tuple(drawings),
    )


def _matrix(item: Untyped) -> Untyped:
    """Returns the matrix that maps an object, which may be inside form objects, to the page."""
    matrix = item.get_matrix()
    return matrix.multiply(_matrix(item.container)) if item.container else matrix


def _placed(points: Sequence[_Point], matrix: Untyped, *, left: float, top: float) -> list[_Point]:
    """Returns points of an object as the page shows them, measured downwards from its top left corner."""
    return [(x - left, top - y) for x, y in (matrix.on_point(*point) for point in points)]


class _Subpath(NamedTuple):
    """Connected points; `lines[i]` is true if a straight line leads to point i."""

    points: list[_Point]
    lines: list[bool]
    closed: bool


def _subpaths(handle: Untyped) -> Iterator[_Subpath]:
    x, y = ctypes.c_float(), ctypes.c_float()
    path = _Subpath([], [], closed=False)
    for index in range(max(pdfium_c.FPDFPath_CountSegments(handle), 0)):
        segment = pdfium_c.FPDFPath_GetPathSegment(handle, index)
        pdfium_c.FPDFPathSegment_GetPoint(segment, x, y)
        kind = pdfium_c.FPDFPathSegment_GetType(segment)
        if kind == pdfium_c.FPDF_SEGMENT_MOVETO:
            if path.points:
                yield path
            path = _Subpath([], [], closed=False)
        path.points.append((x.value, y.value))
        path.lines.append(kind == pdfium_c.FPDF_SEGMENT_LINETO)
        if pdfium_c.FPDFPathSegment_GetClose(segment):
            path = path._replace(closed=True)
    if path.points:
        yield path


def _shapes(path: _Subpath, *, inked: bool) -> Iterator[Shape]:
    """Yields a closed rectangle as one shape, any other path as its straight lines."""
    points = path.points
    if _is_rectangle(path):
        yield Shape(box=_bounds(points), filled=inked)
        return
    ring = path.closed and points[0] != points[-1]
    lines = [(a, b) for (a, b), line in zip(pairwise(points), path.lines[1:], strict=True) if line]
    for line in [*lines, (points[-1], points[0])] if ring and len(points) > 1 else lines:
        yield Shape(box=_bounds(line), filled=False)


def _is_rectangle(path: _Subpath) -> bool:
    points = path.points
    corners = points[:-1] if len(points) == _CORNERS + 1 and points[0] == points[-1] else points
    if len(corners) != _CORNERS or not all(path.lines[1:]) or not path.closed:
        return False
    sides = list(pairwise([*corners, corners[0]]))
    level = [abs(a[1] - b[1]) < _LEVEL for a, b in sides]
    plumb = [abs(a[0] - b[0]) < _LEVEL for a, b in sides]
    return (level[0] and plumb[1] and level[2] and plumb[3]) or (plumb[0] and level[1] and plumb[2] and level[3])


def _is_inked(handle: Untyped) -> bool:
    """Whether a path is filled with a colour other than white."""
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    if not pdfium_c.FPDFPath_GetDrawMode(handle, mode, stroke) or mode.value == pdfium_c.FPDF_FILLMODE_NONE:
        return False
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium_c.FPDFPageObj_GetFillColor(handle, red, green, blue, alpha):
        return True
    return min(red.value, green.value, blue.value) < _NEAR_WHITE


def _bounds(points: Iterable[_Point]) -> Box:
    return bounding_box(Box(x, y, x, y) for x, y in points)


class _Font(NamedTuple):
    handle: Untyped
    name: str
    bold: bool
    italic: bool


class _Glyph(NamedTuple):
    """A glyph in user space (y upwards); `size` is the font's size and `matrix` what the page applies to it."""

    text: str
    origin: tuple[float, float]
    box: tuple[float, float, float, float]
    size: float
    matrix: tuple[float, float, float, float]
    font: _Font


def _chars_of(page: Untyped, *, box: tuple[float, float, float, float]) -> tuple[Char, ...]:
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
    # PDFium yields a letter beyond U+FFFF as two surrogates.
    whole_text = glyph.text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text, drop = glyph_text(whole_text, font=glyph.font.name)
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
    # The box may be wider than the advance, as that of an italic f.
    advance = x0 + fonts.width(glyph) * stretch
    if x0 < advance < x1 < advance + 0.5 * size:
        x1 = advance
    return Char(text, x0, x1, baseline, size, glyph.font.name, glyph.font.bold, glyph.font.italic, direction)


def _glyphs(textpage: Untyped, fonts: "_Fonts") -> Iterator[_Glyph]:
    """Yields the glyphs of the page; a ligature that PDFium splits into overlapping letters is one glyph."""
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


class _Fonts:
    """The fonts of a text page's characters, each read once."""

    def __init__(self, textpage: Untyped) -> None:
        self._textpage = textpage
        self._known: dict[int, _Font] = {}
        self._widths: dict[tuple[str, str], float] = {}
        self._buffer = ctypes.create_string_buffer(_NAME_LENGTH)
        self._width = ctypes.c_float()

    def width(self, glyph: _Glyph) -> float:
        """Returns the glyph's advance before the page scales it, 0 if unknown."""
        if not glyph.font.handle or len(glyph.text) != 1:
            return 0.0
        key = glyph.font.name, glyph.text
        if key not in self._widths:
            known = pdfium_c.FPDFFont_GetGlyphWidth(glyph.font.handle, ord(glyph.text), 1.0, self._width)
            self._widths[key] = self._width.value if known else 0.0
        return self._widths[key] * glyph.size

    def at(self, index: int) -> _Font:
        """Returns the font of a character."""
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
