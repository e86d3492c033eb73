"""An opened document to a `Paper`, page by page, whatever stands behind the seam."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ingest.pdf.assemble import assemble
from ingest.pdf.backend import Document, PageContent, PageReadError
from ingest.pdf.backends.char_table import CharTable
from ingest.pdf.page.views import views_of
from paperscope.errors import PaperFileError
from paperscope.types import PageProblem, Paper, PaperFormat

__all__ = ["ReadDocument", "read_document"]

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
            pages.extend(_compact(view) for view in views_of(document.read(number)))
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
