"""Assembles a paper from drafts in reading order: ids, order, sections, links."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingest.document.cell_values import with_annotations
from ingest.pdf.elements import Draft
from ingest.pdf.headings import split_number
from ingest.pdf.links import find_links
from paperscope_core.types import Element, Page, PageProblem, Paper, PaperFormat, Passage, Section, Table

__all__ = ["assemble_paper", "paper_id", "section_at", "sections_of"]


def sections_of(drafts: Sequence[Draft], *, paper: str) -> tuple[Section, ...]:
    """A section for each heading, its path through the headings of lower level before it."""
    sections: list[Section] = []
    open_titles: list[tuple[int, str]] = []
    for draft in drafts:
        element = draft.element
        if not _is_heading(draft) or not isinstance(element, Passage):
            continue
        number, title = split_number(element.text)
        while open_titles and open_titles[-1][0] >= element.level:
            open_titles.pop()
        open_titles.append((element.level, f"{number} {title}".strip()))
        sections.append(
            Section(
                id=f"{paper}/section-{len(sections) + 1}",
                number=number,
                title=title,
                level=element.level,
                path=" > ".join(text for _, text in open_titles),
            )
        )
    return tuple(sections)


def section_at(drafts: Sequence[Draft], sections: Sequence[Section]) -> list[str]:
    """The id of the section in which each draft stands, "" before the first heading."""
    ids: list[str] = []
    count = 0
    for draft in drafts:
        count += _is_heading(draft)
        ids.append(sections[count - 1].id if count else "")
    return ids


def _is_heading(draft: Draft) -> bool:
    return isinstance(draft.element, Passage) and draft.element.role == "heading"


_ID_LENGTH = 12


def paper_id(sha256: str) -> str:
    """The id of the paper whose file has this hash."""
    return sha256[:_ID_LENGTH]


def assemble_paper(
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
            element = replace(element, cells=with_annotations(element.cells))
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
