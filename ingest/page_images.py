"""Images of the pages of a paper's file."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from ingest.document.source import read_pdf
from ingest.pdf import Document, PageReadError, backend_for
from ingest.pdf.salvage import salvaged
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import ParserSettings
from paperscope_core.types import Box, Page, Paper

__all__ = ["PageImages", "has_pages", "open_page_images"]


class PageImages(Protocol):
    """The pages of one file, to be looked at."""

    def picture(self, page: Page, *, dpi: int) -> bytes:
        """A page as PNG. Raises `PaperFileError` when it can't be drawn."""
        ...


def has_pages(paper: Paper) -> bool:
    """Whether the paper's file has pages that can be looked at: a text has none, and of some formats only the
    contents are known."""
    return paper.format in ("pdf", "image") and any(page.width > 0 for page in paper.pages)


@contextmanager
def open_page_images(
    file: Path, paper: Paper, *, settings: ParserSettings, password: str | None = None
) -> Iterator[PageImages]:
    """The pictures of the pages of `paper`, which was read from `file`.

    Raises `PaperFileError` for a file without pages, and for one that can't be opened.
    """
    if not has_pages(paper):
        raise PaperFileError(f"{file.name!r} has no pages to look at: it is {paper.format}")
    if paper.format == "image":
        yield _ImagePages(file)
        return
    data = salvaged(read_pdf(file))
    with backend_for(settings.backend).open(data, name=file.name, password=password) as document:
        yield _PdfPages(document, name=file.name)


class _PdfPages:
    def __init__(self, document: Document, *, name: str) -> None:
        self._document = document
        self._name = name

    def picture(self, page: Page, *, dpi: int) -> bytes:
        box = Box(0.0, 0.0, page.width, page.height)
        try:
            (picture,) = self._document.render(page.number, [box], dpi=dpi)
        except PageReadError as error:
            raise PaperFileError(f"page {page.number} of {self._name!r} can't be drawn: {error}") from error
        return picture


class _ImagePages:
    def __init__(self, file: Path) -> None:
        self._file = file

    def picture(self, page: Page, *, dpi: int) -> bytes:
        from PIL import Image, ImageOps

        size = (max(1, round(page.width * dpi / 72)), max(1, round(page.height * dpi / 72)))
        out = io.BytesIO()
        try:
            with Image.open(self._file) as image:
                image.seek(page.number - 1)
                ImageOps.exif_transpose(image).convert("RGB").resize(size).save(out, format="PNG")
        except (OSError, EOFError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise PaperFileError(f"page {page.number} of {self._file.name!r} can't be drawn: {error}") from error
        return out.getvalue()
