"""Assembles a paper from elements in reading order: ids, order, sections, links."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.document.cell_values import with_annotations
from ingest.document.element_ids import element_names, section_names
from ingest.document.headings import split_number
from ingest.document.links import find_links
from paperscope_core.publication import complete_publication
from paperscope_core.types import (
    UNPUBLISHED,
    Element,
    Page,
    PageProblem,
    Paper,
    PaperFormat,
    Passage,
    Publication,
    Section,
    Table,
)

__all__ = ["Draft", "assemble_paper", "paper_id"]

_ID_LENGTH = 12  # Hexadecimal digits: 48 bits, so the chance of a collision among a million papers is 0.2 %.
_OUTSIDE_SECTIONS = ("furniture", "title", "authors")


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """An element without id, order and section; `at` is its sort key in reading order."""

    at: float
    element: Element


def paper_id(sha256: str) -> str:
    """Returns the id of the paper whose file has this hash."""
    return sha256[:_ID_LENGTH]


def assemble_paper(
    elements: Sequence[Element],
    *,
    sha256: str,
    file: str,
    title: str,
    authors: tuple[str, ...],
    pages: tuple[Page, ...],
    problems: tuple[PageProblem, ...],
    format: PaperFormat,  # noqa: A002 -- the field's name
    stated: Publication = UNPUBLISHED,
) -> Paper:
    """Assembles a paper from elements in reading order, without id, order and section, whose places name
    `paper_id(sha256)`; `stated` is what the file's metadata state about its publication."""
    paper = paper_id(sha256)
    sections = _sections(elements, paper=paper)
    numbered = _numbered(elements, sections, paper=paper)
    assembled = Paper(
        id=paper,
        title=title,
        authors=authors,
        sha256=sha256,
        file=file,
        pages=pages,
        sections=sections,
        elements=numbered,
        links=find_links(numbered, sections),
        problems=tuple(sorted(problems, key=lambda problem: problem.page)),
        format=format,
    )
    return replace(assembled, publication=complete_publication(assembled, stated=stated))


def _sections(elements: Sequence[Element], *, paper: str) -> tuple[Section, ...]:
    """Returns a section for each heading; its path goes through the headings of lower level before it."""
    headings = [element for element in elements if isinstance(element, Passage) and element.role == "heading"]
    titles = [split_number(heading.text) for heading in headings]
    sections: list[Section] = []
    parents: list[tuple[int, str]] = []
    for heading, (number, title), name in zip(headings, titles, section_names(titles), strict=True):
        while parents and parents[-1][0] >= heading.level:
            parents.pop()
        parents.append((heading.level, f"{number} {title}".strip()))
        sections.append(
            Section(
                id=f"{paper}/{name}",
                number=number,
                title=title,
                level=heading.level,
                path=" > ".join(text for _, text in parents),
            )
        )
    return tuple(sections)


def _numbered(elements: Sequence[Element], sections: Sequence[Section], *, paper: str) -> tuple[Element, ...]:
    """Returns the elements with ids, order and sections, and the annotations of their cells."""
    headings = 0
    numbered: list[Element] = []
    for order, (element, name) in enumerate(zip(elements, element_names(elements), strict=True)):
        role = element.role if isinstance(element, Passage) else ""
        headings += role == "heading"
        inside = headings > 0 and role not in _OUTSIDE_SECTIONS
        numbered.append(
            replace(
                replace(element, cells=with_annotations(element.cells)) if isinstance(element, Table) else element,
                id=f"{paper}/{name}",
                order=order,
                section=sections[headings - 1].id if inside else "",
            )
        )
    return tuple(numbered)
