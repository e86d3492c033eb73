"""`PdfParser` converts a PDF file to a `ParsedPaper`; `read_document` does the same for other sources of pages."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from statistics import median

from ingest.document.assembly import assemble_paper, paper_id
from ingest.document.bylines import author_names
from ingest.document.crops import add_crops
from ingest.document.geometry import reading_views, turned_size
from ingest.document.line_text import join_lines
from ingest.document.pages import LOADING_TIMES, Backend, Char, CharTable, Document, PageContent, PageReadError
from ingest.document.source import check_page_count, publication_in, read_pdf
from ingest.pdf.element_drafts import draft_elements
from ingest.pdf.front import author_rows
from ingest.pdf.layout import RegionFinder
from ingest.pdf.salvage import salvaged
from ingest.pdf.structure import Structure, read_structure
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.errors import PaperFileError
from paperscope_core.protocols import PageCallback
from paperscope_core.types import Box, Page, PageProblem, Paper, PaperFile, PaperFormat, ParsedPaper, content_hash

__all__ = ["PdfBackend", "PdfParser", "ReadDocument", "read_document"]

_REPAIRED = "the file is damaged and was repaired; pages or parts of them may be missing"
_EMPTY = "the page is empty; its contents may be lost"
_SIDEWAYS = "its text runs sideways and was not read"
_SCANNED = "the page has no text; it seems to be scanned"
_INVISIBLE_SIZE = 0.3  # Points; smaller letters are hidden text.
# Letter sizes: the usual width of a letter, and one that no letter has.
_LETTER_WIDTH, _MAX_WIDTH = 0.5, 4.0
_FOOTNOTE_MARK = re.compile(r"(?<=[^\W\d_])[\s∗*†‡☆§¶⁎]{1,5}$")
_NO_TITLE = ("untitled", "microsoft word", "paper title", ".tex", ".dvi", ".doc", ".pdf", ".indd")


@dataclass(frozen=True, slots=True)
class PdfBackend:
    """Opens PDF files with MuPDF, which is loaded with the first file; picklable."""

    def open(self, data: bytes, *, name: str, password: str | None) -> AbstractContextManager[Document]:
        """See `Backend.open`."""
        # The first file loads the library, which doesn't count as the time of reading that file.
        extend_time_limit(LOADING_TIMES)
        from ingest.pdf.mupdf import MuPdfBackend

        extend_time_limit()
        return MuPdfBackend().open(data, name=name, password=password)


class PdfParser:
    """Reads papers from PDF files.

    Args:
        dpi: The resolution of the crops.
        backend: Opens the files; MuPDF by default.
        max_pages: Longer files are refused.
    """

    def __init__(
        self,
        *,
        dpi: int = 200,
        backend: Backend | None = None,
        max_pages: int | None = None,
    ) -> None:
        self._dpi = dpi
        self._max_pages = max_pages
        self._backend = backend or PdfBackend()

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """Parse a file; call `on_page(done, total)` after each page.

        Raises:
            PaperFileError: Nothing can be read. A page that fails is a `PageProblem` of the paper.
        """
        data = read_pdf(file)
        with self._backend.open(salvaged(data), name=file.name, password=file.password) as document:
            read = read_document(
                document,
                sha256=file.sha256 or content_hash(data),
                file=file.name,
                format="pdf",
                layout_check=True,
                max_pages=self._max_pages,
                on_page=on_page,
            )
            return add_crops(read.paper, document, views=read.views, dpi=self._dpi)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadDocument:
    """A paper without crops, and its pages as they were turned for reading."""

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
    """Read all pages of an open document.

    Args:
        document: The document.
        sha256: The hash of its file.
        file: The name of its file.
        format: The format of its file.
        layout_check: Whether tables, and pages whose columns are in doubt, are also read by a layout model.
        max_pages: Longer documents are refused.
        on_page: Called with the number of pages done and their total.

    Raises:
        PaperFileError: No page can be read, or there are more than `max_pages`.
    """
    count = document.page_count
    if count == 0:
        raise PaperFileError(f"{file!r} is damaged: no page of it can be found. Fetch the file again.")
    check_page_count(count, limit=max_pages, name=file)
    pages, problems = _read_pages(document, on_page=on_page)
    if not pages:
        raise PaperFileError(f"{file!r} is damaged: none of its pages can be read. Fetch the file again.")
    if document.repaired:
        problems.append(PageProblem(page=1, reason=_REPAIRED))
        problems.extend(PageProblem(page=page.number, reason=_EMPTY) for page in pages if not page.has_ink)
    structure = read_structure(
        pages,
        document.outline,
        grids=document.grids if layout_check else None,
        regions=_region_finder(document) if layout_check else None,
        named=document.title,
    )
    noted = dict.fromkeys(
        PageProblem(page=page.number, reason=note, kind="text") for page in pages for note in _notes(page)
    )
    paper = assemble_paper(
        draft_elements(structure, paper=paper_id(sha256)),
        sha256=sha256,
        file=file,
        title=_title(structure, metadata=document.title, file=file),
        authors=author_names(author_rows(structure.authors), metadata=document.authors),
        pages=tuple(dict.fromkeys(map(_page, pages))),
        problems=(*noted, *problems),
        format=format,
        stated=publication_in(document.metadata),
    )
    return ReadDocument(paper=paper, views=pages)


def _region_finder(document: Document) -> RegionFinder:
    """Return what finds the regions of text on a page; none where the library can't read it again."""

    def regions(number: int, turns: int) -> Sequence[Box]:
        try:
            return () if turns else document.regions(number)
        except PageReadError:
            return ()

    return regions


def _read_pages(
    document: Document, *, on_page: Callable[[int, int], None] | None
) -> tuple[list[PageContent], list[PageProblem]]:
    pages: list[PageContent] = []
    problems: list[PageProblem] = []
    for number in range(1, document.page_count + 1):
        try:
            for view in reading_views(document.read(number)):
                visible = [char for char in _in_points(view.chars) if char.text and char.size > _INVISIBLE_SIZE]
                pages.append(replace(view, chars=CharTable(visible)))
        except PageReadError as error:
            problems.append(PageProblem(page=number, reason=f"the page can't be read: {error}", kind="text"))
        if on_page:
            on_page(number, document.page_count)
    return pages, problems


def _in_points(chars: Sequence[Char]) -> Iterator[Char]:
    """Yield the characters; in a font whose unit is not the em, their size follows from the widths of its
    letters and digits.

    Fonts of bitmaps may have any unit. Their letters are then many times as wide as they are large.
    """
    widths: defaultdict[tuple[str, float], list[float]] = defaultdict(list)
    for char in chars:
        if char.text.isalnum() and char.size > 0:
            widths[char.font, char.size].append(char.x1 - char.x0)
    usual = {style: median(found) for style, found in widths.items()}
    sizes = {style: width / _LETTER_WIDTH for style, width in usual.items() if width > _MAX_WIDTH * style[1]}
    return (char._replace(size=sizes.get((char.font, char.size), char.size)) for char in chars)


def _page(page: PageContent) -> Page:
    width, height = turned_size(page.width, page.height, turns=page.turns)
    return Page(number=page.number, width=round(width, 1), height=round(height, 1))


def _notes(page: PageContent) -> Sequence[str]:
    """Return the page's notes, or one that explains why it has no text."""
    if page.notes or page.upright or not page.has_ink:
        return page.notes
    return (_SIDEWAYS if page.chars else _SCANNED,)


def _title(structure: Structure, *, metadata: str, file: str) -> str:
    """Return the printed title, otherwise the one in the metadata if it is usable, otherwise the file's name.

    The one in the metadata is returned, too, if the printed lines are only its first ones.
    """
    printed = _FOOTNOTE_MARK.sub("", join_lines(line.text for line in structure.title))
    letters, stated = (re.sub(r"[\W_]", "", text).casefold() for text in (printed, metadata))
    if printed and not (len(letters) > len(stated) / 2 and len(stated) > len(letters) and stated.startswith(letters)):
        return printed
    usable = len(metadata) > 3 and not any(mark in metadata.lower() for mark in _NO_TITLE)
    return metadata if usable else printed or file.rsplit(".", 1)[0]
