"""`PdfParser`: a PDF file to a `ParsedPaper`."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ingest.pdf.assemble import assemble
from ingest.pdf.backend import Backend, Document, PageContent, PageReadError
from ingest.pdf.backends import backend_for
from ingest.pdf.crops import add_crops
from ingest.pdf.source import read_pdf
from ingest.pdf.views import views_of
from paperscope.errors import PaperFileError
from paperscope.types import PageProblem, Paper, ParsedPaper

__all__ = ["PdfParser"]

_REPAIRED = "the file is damaged and was repaired; pages or parts of them may be missing"


class PdfParser:
    """Reads papers from PDF files; `dpi` is the resolution of the crops, `max_pages` refuses longer files.

    `backend` is the PDF library below the rules, PyMuPDF by default.
    """

    def __init__(self, *, dpi: int = 200, backend: Backend | None = None, max_pages: int | None = None) -> None:
        self._dpi = dpi
        self._max_pages = max_pages
        self._backend = backend or backend_for("pymupdf")

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """Parse a file; `on_page(done, total)` is called after each page that was read.

        Raises `PaperFileError` when nothing can be read; a page that fails is a `PageProblem` of the paper.
        """
        data = read_pdf(file)
        with self._backend.open(data, name=file.name, password=password) as document:
            if document.page_count == 0:
                raise PaperFileError(f"{file.name!r} is damaged: no page of it can be found. Fetch the file again.")
            if self._max_pages is not None and document.page_count > self._max_pages:
                raise PaperFileError(
                    f"{file.name!r} has {document.page_count} pages, over the limit of {self._max_pages}; "
                    "raise limits.max_pages to add it."
                )
            pages, problems = _read_pages(document, on_page=on_page)
            if document.repaired:
                problems.append(PageProblem(page=1, reason=_REPAIRED))
            if not pages:
                raise PaperFileError(f"{file.name!r} is damaged: none of its pages can be read. Fetch the file again.")
            paper = assemble(
                pages,
                sha256=hashlib.sha256(data).hexdigest(),
                file=file.name,
                metadata=(document.title, document.authors),
                outline=document.outline,
            )
            return add_crops(_with_problems(paper, problems), document, views=pages, dpi=self._dpi)


def _read_pages(
    document: Document, *, on_page: Callable[[int, int], None] | None
) -> tuple[list[PageContent], list[PageProblem]]:
    pages: list[PageContent] = []
    problems: list[PageProblem] = []
    for number in range(1, document.page_count + 1):
        try:
            pages.extend(views_of(document.read(number)))
        except PageReadError as error:
            problems.append(PageProblem(page=number, reason=f"the page can't be read: {error}"))
        if on_page:
            on_page(number, document.page_count)
    return pages, problems


def _with_problems(paper: Paper, problems: Sequence[PageProblem]) -> Paper:
    return replace(paper, problems=tuple(sorted((*paper.problems, *problems), key=lambda problem: problem.page)))
