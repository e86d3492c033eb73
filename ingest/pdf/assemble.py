"""From the structure of a document to a `Paper`: elements with ids, places and reading order; sections; links."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingest.pdf.backend import OutlineEntry, PageContent
from ingest.pdf.drafts import Draft, Places, draft_elements
from ingest.pdf.front import author_names
from ingest.pdf.hyphens import join_lines
from ingest.pdf.links import find_links
from ingest.pdf.sections import section_at, sections_of
from ingest.pdf.structure import Structure, read_structure
from ingest.pdf.turning import turned_size
from paperscope.types import Element, Page, PageProblem, Paper, Passage

__all__ = ["assemble"]

_ID_LENGTH = 12
_NO_TITLE = ("untitled", "microsoft word", "paper title", ".tex", ".dvi", ".doc", ".pdf", ".indd")


def assemble(
    pages: Sequence[PageContent],
    *,
    sha256: str,
    file: str,
    metadata: tuple[str, str],
    outline: Sequence[OutlineEntry],
) -> Paper:
    """Make a paper of at least one page; `metadata` is the title and the authors that the file claims.

    A page may come several times, turned in different ways.
    """
    paper = sha256[:_ID_LENGTH]
    structure = read_structure(pages, outline)
    drafts = draft_elements(structure, places=Places(paper=paper, layouts=structure.layouts))
    sections = sections_of(drafts, paper=paper)
    elements = _numbered(drafts, paper=paper, sections_of_drafts=section_at(drafts, sections))
    return Paper(
        id=paper,
        title=_title(structure, claimed=metadata[0], file=file),
        authors=author_names(structure.authors, metadata=metadata[1]),
        sha256=sha256,
        file=file,
        pages=tuple(dict.fromkeys(map(_page, pages))),
        sections=sections,
        elements=elements,
        links=find_links(elements, sections),
        problems=tuple(_scanned(page) for page in pages if not page.upright and (page.images or page.drawings)),
    )


def _page(page: PageContent) -> Page:
    width, height = turned_size(page.width, page.height, turns=page.turns)
    return Page(number=page.number, width=round(width, 1), height=round(height, 1))


def _scanned(page: PageContent) -> PageProblem:
    return PageProblem(
        page=page.number,
        reason="the page has no text; it seems to be scanned, and text recognition (OCR) isn't available yet",
    )


def _title(structure: Structure, *, claimed: str, file: str) -> str:
    printed = join_lines(line.text for line in structure.title)
    if printed:
        return printed
    usable = len(claimed) > 3 and not any(mark in claimed.lower() for mark in _NO_TITLE)
    return claimed if usable else file.rsplit(".", 1)[0]


def _numbered(drafts: Sequence[Draft], *, paper: str, sections_of_drafts: Sequence[str]) -> tuple[Element, ...]:
    """Give the elements their ids, their order and their sections."""
    counts: Counter[str] = Counter()
    elements: list[Element] = []
    for order, (draft, section) in enumerate(zip(drafts, sections_of_drafts, strict=True)):
        element = draft.element
        counts[element.kind] += 1
        outside = isinstance(element, Passage) and element.role in ("furniture", "title", "authors")
        elements.append(
            replace(
                element,
                id=f"{paper}/{element.kind}-{counts[element.kind]}",
                order=order,
                section="" if outside else section,
            )
        )
    return tuple(elements)
