"""`OcrBackend` wraps another backend and recognises pages without usable text from their images."""

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO

from PIL import Image

from ingest.document.crops import png_bytes
from ingest.document.pages import Backend, Document, OutlineEntry, PageContent, PageReadError
from ingest.ocr.page import deskew, recognize_page
from ingest.ocr.recognizer import Recognition
from paperscope_core.types import Box

__all__ = ["OcrBackend", "needs_recognition"]

# The share of a page that the image of a scan covers.
_FULL_PAGE = 0.85
# Scans often carry a stamp or a page number as text, in the upper or lower tenth of the page.
_STAMP_CHARS = 60
_MARGIN = 0.1
# Private, unassigned and control characters and surrogates mean nothing; with more than this share of them, a text
# layer is useless.
_MEANINGLESS = ("Co", "Cn", "Cc", "Cs")
_MEANINGLESS_SHARE = 0.3
# The side in pixels up to which RapidOCR's detection was measured to find small print; more takes longer.
_LONGEST_SIDE = 2340
_MAX_DPI = 600


def needs_recognition(page: PageContent) -> bool:
    """Return whether a page's text must be recognised from its image.

    True for a page with ink but no text, for a scan with at most a stamp as text, and for a page many of whose
    characters are meaningless. A blank page needs no recognition.
    """
    if not page.chars:
        return bool(page.images or page.drawings)
    area = page.width * page.height
    scan = any((box.x1 - box.x0) * (box.y1 - box.y0) >= _FULL_PAGE * area for box in page.images)
    inside = [char for char in page.chars if _MARGIN < char.baseline / page.height < 1 - _MARGIN]
    if scan and len(inside) < _STAMP_CHARS:
        return True
    letters = (letter for char in page.chars for letter in char.text)
    meaningless = sum(letter == "\ufffd" or unicodedata.category(letter) in _MEANINGLESS for letter in letters)
    return meaningless > _MEANINGLESS_SHARE * len(page.chars)


class OcrBackend:
    """Wraps a backend; without a recogniser, a page without usable text gets a note that names the remedy."""

    def __init__(self, backend: Backend, recognition: Recognition) -> None:
        self._backend = backend
        self._recognition = recognition

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator[Document]:
        """See `Backend.open`."""
        with self._backend.open(data, name=name, password=password) as document:
            yield OcrDocument(document, self._recognition)


class OcrDocument:
    """An open file; a page that was deskewed for recognition is rendered deskewed, too."""

    def __init__(self, document: Document, recognition: Recognition) -> None:
        self._document = document
        self.title, self.authors, self.metadata = document.title, document.authors, document.metadata
        self._recognizer = recognition.recognizer
        self._remedy = recognition.remedy
        self._skews: dict[int, float] = {}

    @property
    def page_count(self) -> int:
        """See `Document.page_count`."""
        return self._document.page_count

    @property
    def repaired(self) -> bool:
        """See `Document.repaired`."""
        return self._document.repaired

    @property
    def outline(self) -> Sequence[OutlineEntry]:
        """See `Document.outline`."""
        return self._document.outline

    def read(self, number: int) -> PageContent:
        """See `Document.read`; a note says whether text was recognised, and if not, why."""
        page = self._document.read(number)
        if not needs_recognition(page):
            return page
        reason = "the page has no text layer" if not page.chars else "the page's text layer is not usable"
        if self._recognizer is None:
            return replace(page, notes=(f"{reason}; {self._remedy}",))
        dpi = min(_MAX_DPI, max(1, round(72 * _LONGEST_SIDE / max(page.width, page.height))))
        try:
            picture = self._rendered(page, dpi=dpi)
            found = recognize_page(picture, self._recognizer, number=number, width=page.width, height=page.height)
        except PageReadError as error:
            return replace(page, notes=(f"{reason}, and it could not be recognised: {error}",))
        self._skews[number] = found.skew
        if not found.content.chars:
            return replace(page, notes=(f"{reason}, and text recognition (OCR) found none in its picture",))
        turned = f"; the page was turned by {-found.skew:g}°" if found.skew else ""
        note = f"{reason}; its text was recognised (OCR), mean confidence {found.confidence:.2f}{turned}"
        return replace(found.content, notes=(note,))

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        """See `Document.render`."""
        skew = self._skews.get(number, 0.0)
        if not skew:
            return self._document.render(number, boxes, dpi=dpi, turns=turns)
        page = self._document.read(number)
        shown = deskew(self._rendered(page, dpi=dpi), skew)
        scale = shown.width / page.width
        cut = [shown.crop((x0 * scale, y0 * scale, x1 * scale, y1 * scale)) for x0, y0, x1, y1 in boxes]
        return [png_bytes(picture.rotate(-90 * turns, expand=True) if turns else picture) for picture in cut]

    def cells(self, number: int, box: Box) -> Sequence[Box]:
        """See `Document.cells`; none on a deskewed page."""
        return () if self._skews.get(number) else self._document.cells(number, box)

    def _rendered(self, page: PageContent, *, dpi: int) -> Image.Image:
        whole = Box(0, 0, page.width, page.height)
        with Image.open(BytesIO(self._document.render(page.number, [whole], dpi=dpi)[0])) as shown:
            return shown.convert("RGB")
