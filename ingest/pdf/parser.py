"""`PdfParser`: a PDF file to a `ParsedPaper`."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ingest.document.crops import add_crops
from ingest.document.geometry import reading_views, turned_size
from ingest.document.hyphenation import join_lines
from ingest.document.pages import Backend, CharTable, Document, OutlineEntry, PageContent, PageReadError
from ingest.document.source import read_pdf
from ingest.pdf.assembly import assemble_paper, paper_id
from ingest.pdf.backends import backend_for
from ingest.pdf.elements import Places, draft_elements
from ingest.pdf.front import author_names, author_text
from ingest.pdf.salvage import salvaged
from ingest.pdf.structure import Structure, read_structure
from ingest.pdf.tables.find import CellFinder
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Page, PageProblem, Paper, PaperFormat, ParsedPaper

__all__ = ["PdfParser", "ReadDocument", "assemble", "read_document"]


_NO_TITLE = ("untitled", "microsoft word", "paper title", ".tex", ".dvi", ".doc", ".pdf", ".indd")


def assemble(
    pages: Sequence[PageContent],
    *,
    sha256: str,
    file: str,
    metadata: tuple[str, str],
    outline: Sequence[OutlineEntry],
    cells: CellFinder | None = None,
    format: PaperFormat = "pdf",  # noqa: A002 -- the field's name
) -> Paper:
    """Make a paper of at least one page; `metadata` is the title and the authors that the file claims.

    A page may come several times, turned in different ways. `cells` is asked about doubtful tables.
    """
    structure = read_structure(pages, outline, cells=cells)
    return assemble_paper(
        draft_elements(structure, places=Places(paper=paper_id(sha256), layouts=structure.layouts)),
        sha256=sha256,
        file=file,
        title=_title(structure, claimed=metadata[0], file=file),
        authors=author_names([author_text(line) for line in structure.authors], metadata=metadata[1]),
        pages=tuple(dict.fromkeys(map(_page, pages))),
        problems=tuple(dict.fromkeys(problem for page in pages for problem in _problems(page))),
        format=format,
    )


def _page(page: PageContent) -> Page:
    width, height = turned_size(page.width, page.height, turns=page.turns)
    return Page(number=page.number, width=round(width, 1), height=round(height, 1))


def _problems(page: PageContent) -> Iterator[PageProblem]:
    """The page's notes; without any, a page of ink only is said to have no text, or none that stands upright."""
    for note in page.notes:
        yield PageProblem(page=page.number, reason=note)
    if not page.notes and not page.upright and (page.chars or page.images or page.drawings):
        reason = (
            "its text runs sideways and was not read" if page.chars else "the page has no text; it seems to be scanned"
        )
        yield PageProblem(page=page.number, reason=reason)


def _title(structure: Structure, *, claimed: str, file: str) -> str:
    printed = join_lines(line.text for line in structure.title)
    if printed:
        return printed
    usable = len(claimed) > 3 and not any(mark in claimed.lower() for mark in _NO_TITLE)
    return claimed if usable else file.rsplit(".", 1)[0]


_REPAIRED = "the file is damaged and was repaired; pages or parts of them may be missing"
_INVISIBLE = 0.3
_EMPTY = "nothing is on the page; what it held may be lost"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadDocument:
    """A paper without crops, and its pages as they were held for reading."""

    paper: Paper
    views: Sequence[PageContent]


def read_document(
    document: Document,
    *,
    sha256: str,
    file: str,
    format: PaperFormat,  # noqa: A002 -- the field's name
    layout_check: bool = False,
    max_pages: int | None = None,
    on_page: Callable[[int, int], None] | None = None,
) -> ReadDocument:
    """Read all pages; a page that fails is a `PageProblem` of the paper. `layout_check` asks the document for the cells
    of tables that our rules are unsure of.

    Raises `PaperFileError` for a document without a readable page, and for one of more than `max_pages`.
    """
    count = document.page_count
    if count == 0:
        raise PaperFileError(f"{file!r} is damaged: no page of it can be found. Fetch the file again.")
    if max_pages is not None and count > max_pages:
        raise PaperFileError(
            f"{file!r} has {count} pages, over the limit of {max_pages}; raise limits.max_pages to add it."
        )
    pages, problems = _read_pages(document, on_page=on_page)
    if document.repaired:
        problems.append(PageProblem(page=1, reason=_REPAIRED))
        problems.extend(PageProblem(page=page.number, reason=_EMPTY) for page in pages if _is_empty(page))
    if not pages:
        raise PaperFileError(f"{file!r} is damaged: none of its pages can be read. Fetch the file again.")
    paper = assemble(
        pages,
        sha256=sha256,
        file=file,
        metadata=(document.title, document.authors),
        outline=document.outline,
        cells=document.cells if layout_check else None,
        format=format,
    )
    problems = sorted((*paper.problems, *problems), key=lambda problem: problem.page)
    return ReadDocument(paper=replace(paper, problems=tuple(problems)), views=pages)


def _read_pages(
    document: Document, *, on_page: Callable[[int, int], None] | None
) -> tuple[list[PageContent], list[PageProblem]]:
    pages: list[PageContent] = []
    problems: list[PageProblem] = []
    for number in range(1, document.page_count + 1):
        try:
            pages.extend(_compact(view) for view in reading_views(document.read(number)))
        except PageReadError as error:
            problems.append(PageProblem(page=number, reason=f"the page can't be read: {error}"))
        if on_page:
            on_page(number, document.page_count)
    return pages, problems


def _is_empty(page: PageContent) -> bool:
    return not (page.chars or page.images or page.drawings)


def _compact(page: PageContent) -> PageContent:
    """The page in little memory, without what nobody can see."""
    return replace(page, chars=CharTable([char for char in page.chars if char.text and char.size > _INVISIBLE]))


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
