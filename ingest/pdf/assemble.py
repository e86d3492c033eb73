"""From the structure of a document to a `Paper`: elements with ids, places and reading order; sections; links."""

from collections.abc import Iterator, Sequence

from ingest.building import paper_id, paper_of
from ingest.pdf.backend import OutlineEntry, PageContent
from ingest.pdf.drafts import draft_elements
from ingest.pdf.page.turning import turned_size
from ingest.pdf.places import Places
from ingest.pdf.structure import Structure, read_structure
from ingest.pdf.tables.second import CellFinder
from ingest.pdf.text.front import author_names, author_text
from ingest.pdf.text.hyphens import join_lines
from paperscope.types import Page, PageProblem, Paper, PaperFormat

__all__ = ["assemble"]

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
    return paper_of(
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
