"""PyMuPDF as a backend. Scripts, attachments and links are never followed."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from itertools import zip_longest

from ingest.document.geometry import (
    Shape,
    quarter_turns,
    sort_shapes,
    turned_box,
    turned_page,
    turned_point,
    turned_size,
)
from ingest.document.pages import LOADING_TIMES, Char, OutlineEntry, PageContent, PageGrid, PageReadError, locked_error
from ingest.pdf.fonts import glyph_text, is_bold, is_italic
from ingest.pdf.printed_glyphs import GlyphPlace, PrintedGlyphs, glyph_place
from ingest.pdf.pymupdf_import import Untyped, pymupdf
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.errors import PaperFileError
from paperscope_core.telemetry import disable_onnxruntime_telemetry
from paperscope_core.types import Box

__all__ = ["MuPdfBackend", "pymupdf"]

_mupdf = pymupdf
_FAILURES = (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, _mupdf.mupdf.FzErrorBase)
_FLAG_ITALIC, _FLAG_BOLD = 2, 16  # Flags of a span in PyMuPDF.
_TEXT_FLAGS = _mupdf.TEXTFLAGS_RAWDICT & ~_mupdf.TEXT_PRESERVE_IMAGES
# The text of a scan is recognised by the program that scanned it, and lies invisible on the image of the page.
_HIDDEN_SHARE = 0.5
_HIDDEN = "its text layer is invisible, as on a scan, and may differ from what is printed"
_PREFIX = 7  # The length of "ABCDEF+".
_TEXT_REGIONS = frozenset(("text", "list-item", "section-header", "footnote"))  # Classes of PyMuPDF's layout model.
_NEAR_WHITE = 0.98  # A share of full brightness; a lighter fill is not visible on paper.


class MuPdfBackend:
    """Opens PDF files with MuPDF."""

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator["MuPdfDocument"]:
        """See `Backend.open`."""
        _mupdf.TOOLS.mupdf_display_errors(False)
        _mupdf.TOOLS.mupdf_display_warnings(False)
        # Boxes of characters as in the file; pymupdf4llm sets the same when it is imported.
        _mupdf.TOOLS.unset_quad_corrections(True)
        # Otherwise two fonts of a file may have one name.
        _mupdf.TOOLS.set_subset_fontnames(True)
        # Otherwise PyMuPDF prints errors while it searches for tables.
        _mupdf.set_messages(pylogging=True, pylogging_level=logging.DEBUG)
        try:
            document = _mupdf.open(stream=data, filetype="pdf")
        except _FAILURES as error:
            raise PaperFileError(f"{name!r} is damaged and can't be opened: {error}. Fetch the file again.") from error
        with document:
            if document.needs_pass and (password is None or not document.authenticate(password)):
                raise locked_error(name, password=password)
            yield MuPdfDocument(document)


class MuPdfDocument:
    """An open PDF file."""

    def __init__(self, document: Untyped) -> None:
        self._document = document
        self._rotations: dict[int, int] = {}
        self._layouts: dict[tuple[int, int], Sequence[tuple[str, Box, PageGrid | None]]] = {}
        self._glyphs = PrintedGlyphs(document)
        metadata = document.metadata or {}
        self.title = str(metadata.get("title") or "").strip()
        self.authors = str(metadata.get("author") or "").strip()

    @property
    def metadata(self) -> Mapping[str, str]:
        """See `Document.metadata`."""
        try:
            kind, value = self._document.xref_get_key(-1, "Info")
            at = int(value.split()[0]) if kind == "xref" else 0
            keys = self._document.xref_get_keys(at) if at else ()
            found = {str(key).lower(): str(self._document.xref_get_key(at, key)[1]) for key in keys}
            return found | {"xmp": str(self._document.get_xml_metadata())}
        except _FAILURES:
            return {}

    @property
    def page_count(self) -> int:
        """The number of pages; 0 if the page tree can't be read."""
        try:
            return int(self._document.page_count)
        except _FAILURES:
            return 0

    @property
    def repaired(self) -> bool:
        """See `Document.repaired`."""
        return bool(self._document.is_repaired)

    @property
    def outline(self) -> Sequence[OutlineEntry]:
        """See `Document.outline`."""
        try:
            entries = self._document.get_toc()
        except _FAILURES:
            return ()
        return tuple(OutlineEntry(level=level, title=title, page=max(page, 0)) for level, title, page in entries)

    def read(self, number: int) -> PageContent:
        """See `Document.read`."""
        with self._page(number) as (page, rotation):
            drawings = page.get_drawings()
            shapes = sort_shapes(_shapes(drawings))
            chars, slanted, hidden = _text(page, self._glyphs.corrections(page))
            content = PageContent(
                number=number,
                width=page.rect.width,
                height=page.rect.height,
                chars=chars,
                horizontal=shapes.horizontal,
                vertical=shapes.vertical,
                fills=shapes.fills,
                images=tuple(Box(*info["bbox"]) for info in page.get_image_info()),
                drawings=(*(Box(*drawing["rect"]) for drawing in drawings), *slanted),
                notes=(_HIDDEN,) if hidden > _HIDDEN_SHARE * len(chars) else (),
            )
            return turned_page(content, turns=-rotation)

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        """See `Document.render`; the page is interpreted once for all boxes."""
        zoom = dpi / 72
        with self._page(number) as (page, rotation):
            width, height = turned_size(page.rect.width, page.rect.height, turns=rotation)
            shown = page.get_displaylist()
            matrix = _mupdf.Matrix(zoom, zoom).prerotate(90 * (rotation - turns))
            clips = [_mupdf.Rect(turned_box(box, width, height, turns=rotation)) for box in boxes]
            return [shown.get_pixmap(matrix=matrix, clip=clip, alpha=0).tobytes("png") for clip in clips]

    def grids(self, number: int, *, turns: int = 0) -> Sequence[PageGrid]:
        """See `Document.grids`."""
        return [grid for _, _, grid in self._layout(number, turns=turns) if grid]

    def regions(self, number: int) -> Sequence[Box]:
        """See `Document.regions`."""
        return tuple(box for kind, box, _ in self._layout(number) if kind in _TEXT_REGIONS)

    def _layout(self, number: int, *, turns: int = 0) -> Sequence[tuple[str, Box, PageGrid | None]]:
        """Return what the layout model finds on a page, with its kind.

        A turned page is drawn on another one, since the model reads unturned pages only.
        """
        _load_layout_analysis()
        if (number, turns) not in self._layouts:
            # The model takes as long as reading the page does, or longer.
            extend_time_limit()
            with self._page(number) as (page, rotation), _mupdf.open() as turned:
                apart = (turns - rotation) % 4
                shown = page
                if apart:
                    width, height = turned_size(page.rect.width, page.rect.height, turns=apart)
                    shown = turned.new_page(width=width, height=height)
                    shown.show_pdf_page(shown.rect, self._document, number - 1, rotate=90 * apart)
                shown.get_layout(return_raw=True)
                self._layouts[number, turns] = list(map(_found, shown.layout_information or ()))
            extend_time_limit()
        return self._layouts[number, turns]

    @contextmanager
    def _page(self, number: int) -> Iterator[tuple[Untyped, int]]:
        """Open the page without its rotation flag, and the flag's quarter turns clockwise.

        Failures become `PageReadError`.
        """
        try:
            page = self._document[number - 1]
            # MuPDF returns a blank page for a page that doesn't exist.
            if self._document.xref_object(page.xref) == "null":
                raise PageReadError("it is missing")
            rotation = self._rotations.setdefault(number, page.rotation // 90)
            if page.rotation:
                # `remove_rotation` would lose the crop box.
                page.set_rotation(0)
            yield page, rotation
        except _FAILURES as error:
            raise PageReadError(str(error) or type(error).__name__) from error


def _found(found: Untyped) -> tuple[str, Box, PageGrid | None]:
    box, grid = Box(*found["group_bbox"]), found.get("table_grid")
    if not grid:
        return found["class_name"], box, None
    xs, ys = (sorted(float(edge) for edge in edges) for edges in (grid.v_lines, grid.h_lines))
    placed = PageGrid(box=box, xs=tuple(box.x0 + x for x in xs), ys=tuple(box.y0 + y for y in ys))
    return found["class_name"], box, placed


def _text(page: Untyped, corrections: Mapping[GlyphPlace, str]) -> tuple[tuple[Char, ...], list[Box], int]:
    """Return the characters, the boxes of lines at other angles, such as labels of a plot, and how many characters are
    invisible."""
    size = page.rect.width, page.rect.height
    hidden = 0
    chars: list[Char] = []
    slanted: list[Box] = []
    for block in page.get_text("rawdict", flags=_TEXT_FLAGS)["blocks"]:
        for line in block.get("lines", ()):
            direction = quarter_turns(*line["dir"])
            if direction is None:
                slanted.append(Box(*line["bbox"]))
                continue
            width, height = turned_size(*size, turns=direction)
            for span in line["spans"]:
                found = _span_chars(span, direction=direction, page=size, corrections=corrections)
                before = len(chars)
                chars.extend(char for char in found if 0 <= char.x0 < width and 0 < char.baseline <= height)
                hidden += len(chars) - before if span.get("alpha") == 0 else 0
    return tuple(chars), slanted, hidden


def _span_chars(
    span: Untyped, *, direction: int, page: tuple[float, float], corrections: Mapping[GlyphPlace, str]
) -> Iterator[Char]:
    named, size, flags = span["font"], span["size"], span["flags"]
    font = _without_prefix(named)
    bold = bool(flags & _FLAG_BOLD) or is_bold(font)
    italic = bool(flags & _FLAG_ITALIC) or is_italic(font)
    chars = span["chars"]
    for char, after in zip_longest(chars, chars[1:]):
        text, drop = glyph_text(char["c"], font=font, after=after["c"] if after else "")
        if corrections and text == char["c"]:
            text = corrections.get(glyph_place(named, char["origin"]), text)
        if char["synthetic"] or text.isspace() or not text.isprintable():
            continue
        x0, _, x1, _ = char["bbox"]
        left, baseline = char["origin"]
        if direction:
            x0, _, x1, _ = turned_box(Box(*char["bbox"]), *page, turns=direction)
            _, baseline = turned_point(left, baseline, *page, turns=direction)
        yield Char(text, x0, x1, baseline + drop * size, size, font, bold, italic, direction)


def _without_prefix(font: str) -> str:
    """Return a font's name without the prefix of a subset ("ABCDEF+Times")."""
    return font[_PREFIX:] if font[_PREFIX - 1 : _PREFIX] == "+" else font


def _shapes(drawings: Sequence[Untyped]) -> Iterator[Shape]:
    for drawing in drawings:
        fill = drawing.get("fill")
        inked = fill is not None and min(fill) < _NEAR_WHITE
        for item in drawing["items"]:
            if item[0] == "l":
                (x0, y0), (x1, y1) = item[1], item[2]
                yield Shape(box=Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), filled=False)
            elif item[0] == "re":
                yield Shape(box=Box(*item[1]), filled=inked)


@cache
def _load_layout_analysis() -> None:
    """Load the models with which `find_tables` locates tables, if they are installed."""
    extend_time_limit(LOADING_TIMES)
    disable_onnxruntime_telemetry()
    with suppress(ImportError):
        import_module("pymupdf.layout")
    extend_time_limit()
