"""`OcrBackend`: another backend whose pages without usable text are recognised from their images."""

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from io import BytesIO

from PIL import Image

from ingest.document.pages import Backend, Document, OutlineEntry, PageContent, PageReadError
from ingest.ocr.page import deskew, recognize_page
from ingest.ocr.recognizer import Recognition
from paperscope_core.types import Box

__all__ = ["OcrBackend", "needs_recognition"]


_FULL_PAGE = 0.85
_FEW_CHARS = 60
_MARGIN = 0.1
_GARBAGE = 0.3


def needs_recognition(page: PageContent) -> bool:
    """A page with ink but no text; one that a single picture covers (a scan) and that has little text but in its upper
    and lower margin (a stamp); one many of whose characters are of no script. A blank page needs none.
    """
    if not page.chars:
        return bool(page.images or page.drawings)
    area = page.width * page.height
    scan = any((box.x1 - box.x0) * (box.y1 - box.y0) >= _FULL_PAGE * area for box in page.images)
    inside = [char for char in page.chars if _MARGIN < char.baseline / page.height < 1 - _MARGIN]
    if scan and len(inside) < _FEW_CHARS:
        return True
    odd = sum(_is_odd(letter) for char in page.chars for letter in char.text)
    return odd > _GARBAGE * len(page.chars)


def _is_odd(letter: str) -> bool:
    """No character of any script: unassigned, private or a sign that stands for one that is unknown."""
    return letter == "\ufffd" or unicodedata.category(letter) in ("Co", "Cn", "Cc", "Cs")


_LONGEST_SIDE = 2340
_MOST_DPI = 600


class OcrBackend:
    """Wraps a backend. Without a recogniser such a page keeps what it has, with a note of the remedy."""

    def __init__(self, backend: Backend, recognition: Recognition) -> None:
        self._backend = backend
        self._recognition = recognition

    def open(self, data: bytes, *, name: str, password: str | None) -> AbstractContextManager[Document]:
        """See `Backend.open`."""
        return self._opened(data, name=name, password=password)

    @contextmanager
    def _opened(self, data: bytes, *, name: str, password: str | None) -> Iterator[Document]:
        with self._backend.open(data, name=name, password=password) as document:
            yield OcrDocument(document, self._recognition)


class OcrDocument:
    """An open file; a page that was turned back because it was scanned askew is rendered as it was read."""

    def __init__(self, document: Document, recognition: Recognition) -> None:
        self._document = document
        self._recognizer = recognition.recognizer
        self._remedy = recognition.remedy
        self._skews: dict[int, float] = {}

    @property
    def page_count(self) -> int:
        """See `Document.page_count`."""
        return self._document.page_count

    @property
    def title(self) -> str:
        """See `Document.title`."""
        return self._document.title

    @property
    def authors(self) -> str:
        """See `Document.authors`."""
        return self._document.authors

    @property
    def repaired(self) -> bool:
        """See `Document.repaired`."""
        return self._document.repaired

    @property
    def outline(self) -> Sequence[OutlineEntry]:
        """See `Document.outline`."""
        return self._document.outline

    def read(self, number: int) -> PageContent:
        """See `Document.read`; a note says what was recognised, or why it wasn't."""
        page = self._document.read(number)
        if not needs_recognition(page):
            return page
        why = "the page has no text layer" if not page.chars else "the page's text layer is not usable"
        if self._recognizer is None:
            return replace(page, notes=(f"{why}; {self._remedy}",))
        try:
            picture = self._picture(page)
            found = recognize_page(picture, self._recognizer, number=number, width=page.width, height=page.height)
        except PageReadError as error:
            return replace(page, notes=(f"{why}, and it could not be recognised: {error}",))
        self._skews[number] = found.skew
        if not found.content.chars:
            return replace(page, notes=(f"{why}, and text recognition (OCR) found none in its picture",))
        turned = f"; the page was turned by {-found.skew:g}°" if found.skew else ""
        note = f"{why}; its text was recognised (OCR), mean confidence {found.confidence:.2f}{turned}"
        return replace(found.content, notes=(note,))

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        """See `Document.render`."""
        skew = self._skews.get(number, 0.0)
        if not skew:
            return self._document.render(number, boxes, dpi=dpi, turns=turns)
        page = self._document.read(number)
        shown = deskew(self._shown(page, dpi=dpi), skew)
        scale = shown.width / page.width
        cut = [shown.crop((x0 * scale, y0 * scale, x1 * scale, y1 * scale)) for x0, y0, x1, y1 in boxes]
        return [_png(picture.rotate(-90 * turns, expand=True) if turns else picture) for picture in cut]

    def cells(self, number: int, box: Box) -> Sequence[Box]:
        """See `Document.cells`; none on a page that was turned back."""
        return () if self._skews.get(number) else self._document.cells(number, box)

    def _picture(self, page: PageContent) -> Image.Image:
        dpi = min(_MOST_DPI, max(1, round(72 * _LONGEST_SIDE / max(page.width, page.height))))
        return self._shown(page, dpi=dpi)

    def _shown(self, page: PageContent, *, dpi: int) -> Image.Image:
        whole = Box(0, 0, page.width, page.height)
        with Image.open(BytesIO(self._document.render(page.number, [whole], dpi=dpi)[0])) as shown:
            return shown.convert("RGB")


def _png(picture: Image.Image) -> bytes:
    out = BytesIO()
    picture.save(out, format="PNG")
    return out.getvalue()
