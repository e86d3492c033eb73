"""`PdfParser`: a PDF file to a `ParsedPaper`."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from ingest.pdf.backend import Backend
from ingest.pdf.backends import backend_for
from ingest.pdf.crops import add_crops
from ingest.pdf.document import read_document
from ingest.pdf.salvage import salvaged
from ingest.pdf.source import read_pdf
from paperscope.types import ParsedPaper

__all__ = ["PdfParser"]


class PdfParser:
    """Reads papers from PDF files; `dpi` is the resolution of the crops, `max_pages` refuses longer files.

    `backend` is the PDF library below the rules, PyMuPDF by default; with `layout_check` the cells that it sees itself
    are a second opinion on doubtful tables.
    """

    def __init__(
        self,
        *,
        dpi: int = 200,
        backend: Backend | None = None,
        layout_check: bool = True,
        max_pages: int | None = None,
    ) -> None:
        self._dpi = dpi
        self._layout_check = layout_check
        self._max_pages = max_pages
        self._backend = backend or backend_for("pymupdf")

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """Parse a file; `on_page(done, total)` is called after each page that was read.

        Raises `PaperFileError` when nothing can be read; a page that fails is a `PageProblem` of the paper.
        """
        data = read_pdf(file)
        with self._backend.open(salvaged(data), name=file.name, password=password) as document:
            read = read_document(
                document,
                sha256=hashlib.sha256(data).hexdigest(),
                file=file.name,
                format="pdf",
                layout_check=self._layout_check,
                max_pages=self._max_pages,
                on_page=on_page,
            )
            return add_crops(read.paper, document, views=read.views, dpi=self._dpi)
