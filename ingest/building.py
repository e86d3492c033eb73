"""From drafts in reading order to a `Paper`, whatever they were drawn from: ids, order, sections, links."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingest.annotations import annotated
from ingest.pdf.drafts import Draft
from ingest.pdf.links.links import find_links
from ingest.pdf.text.sections import section_at, sections_of
from paperscope.types import Element, Page, PageProblem, Paper, PaperFormat, Passage, Table

__all__ = ["paper_id", "paper_of"]

_ID_LENGTH = 12


def paper_id(sha256: str) -> str:
    """The id of the paper whose file has this hash."""
    return sha256[:_ID_LENGTH]


def paper_of(
    drafts: Sequence[Draft],
    *,
    sha256: str,
    file: str,
    title: str,
    authors: tuple[str, ...],
    pages: tuple[Page, ...],
    problems: tuple[PageProblem, ...],
    format: PaperFormat,  # noqa: A002 -- the field's name
) -> Paper:
    """The paper of drafts whose places name `paper_id(sha256)`; problems are sorted by page."""
    paper = paper_id(sha256)
    sections = sections_of(drafts, paper=paper)
    elements = _numbered(drafts, paper=paper, sections_of_drafts=section_at(drafts, sections))
    return Paper(
        id=paper,
        title=title,
        authors=authors,
        sha256=sha256,
        file=file,
        pages=pages,
        sections=sections,
        elements=elements,
        links=find_links(elements, sections),
        problems=tuple(sorted(problems, key=lambda problem: problem.page)),
        format=format,
    )


def _numbered(drafts: Sequence[Draft], *, paper: str, sections_of_drafts: Sequence[str]) -> tuple[Element, ...]:
    """Give the elements their ids, their order and their sections."""
    counts: Counter[str] = Counter()
    elements: list[Element] = []
    for order, (draft, section) in enumerate(zip(drafts, sections_of_drafts, strict=True)):
        element = draft.element
        if isinstance(element, Table):
            element = replace(element, cells=annotated(element.cells))
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
