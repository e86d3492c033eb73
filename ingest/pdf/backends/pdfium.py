"""PDFium as a backend; only this module and `pdfium_page` import it. Scripts and links are never followed."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import pypdfium2
import pypdfium2.raw as pdfium_c

from ingest.document.geometry import turned_box, turned_page, turned_size
from ingest.document.pages import UNLOCK_HINT, OutlineEntry, PageContent, PageReadError
from ingest.pdf.backends.pdfium_page import page_content
from paperscope_core.errors import PaperFileError, PaperLockedError
from paperscope_core.types import Box

__all__ = ["PdfiumBackend"]


# pypdfium2 has no types; its values are untyped in these two modules only.
Untyped: TypeAlias = Any

_FAILURES = (pypdfium2.PdfiumError, OSError, ValueError)


class PdfiumBackend:
    """Opens PDF files with PDFium."""

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator["PdfiumDocument"]:
        """See `Backend.open`."""
        try:
            document = pypdfium2.PdfDocument(data, password=password)
        except _FAILURES as error:
            raise _refusal(error, name=name, password=password) from error
        try:
            yield PdfiumDocument(document)
        finally:
            document.close()


def _refusal(error: Exception, *, name: str, password: str | None) -> PaperFileError:
    if getattr(error, "err_code", None) not in (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY):
        return PaperFileError(f"{name!r} is damaged and can't be opened. Fetch the file again.")
    if password is None:
        return PaperLockedError(f"{name!r} is encrypted. {UNLOCK_HINT}")
    return PaperLockedError(f"{name!r} is encrypted and the password given does not open it. Check the password.")


class PdfiumDocument:
    """An open PDF file."""

    def __init__(self, document: Untyped) -> None:
        self._document = document

    @property
    def page_count(self) -> int:
        """See `Document.page_count`."""
        return max(len(self._document), 0)

    @property
    def title(self) -> str:
        """See `Document.title`."""
        return self._metadata("Title")

    @property
    def authors(self) -> str:
        """See `Document.authors`."""
        return self._metadata("Author")

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
            content = page_content(page, number=number)
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
