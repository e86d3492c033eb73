"""Assembles a paper from elements in reading order: ids, order, sections, links."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ingest.document.caption_wording import split_number
from ingest.document.cell_values import with_annotations
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

__all__ = ["Draft", "UniqueNames", "assemble_paper", "element_names", "paper_id", "safe_name", "section_names"]

_ID_LENGTH = 12  # Hexadecimal digits: 48 bits, so the chance of a collision among a million papers is 0.2 %.
_OUTSIDE_SECTIONS = ("furniture", "title", "authors")

_LONGEST = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """An element without id, order and section; `at` is its sort key in reading order."""

    at: float
    element: Element


def paper_id(sha256: str) -> str:
    """Return the id of the paper whose file has this hash."""
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
    """Assemble a paper from elements in reading order, without id, order and section, whose places name
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
    """Return a section for each heading; its path goes through the headings of lower level before it."""
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
    """Return the elements with ids, order and sections, and the annotations of their cells."""
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


class UniqueNames:
    """Makes names unique: one that is taken is followed by a number (`table-5-2`)."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: Counter[str] = Counter()

    def add(self, name: str) -> str:
        """Return the name, numbered if it is taken."""
        free = name
        while free in self._taken:
            self._last[name] = max(self._last[name], 1) + 1
            free = f"{name}-{self._last[name]}"
        self._taken.add(free)
        return free


def element_names(elements: Sequence[Element]) -> list[str]:
    """Return a name for each element: `table-7` for "Table 7", `table-7-2` for a second one.

    Passages without a label are `passage-1` and so on, other elements without one `table-unlabelled-1` and so on.
    """
    names = UniqueNames()
    unlabelled: Counter[str] = Counter()
    found: list[str] = []
    for element in elements:
        name = safe_name(element.label)
        if not name:
            unlabelled[element.kind] += 1
            stem = element.kind if isinstance(element, Passage) else f"{element.kind}-unlabelled"
            name = f"{stem}-{unlabelled[element.kind]}"
        elif element.kind == "reference" or not name[0].isalpha():
            name = f"{element.kind}-{name}"
        found.append(names.add(name))
    return found


def section_names(sections: Iterable[tuple[str, str]]) -> list[str]:
    """Return a name for each section by its number and title: `section-4.2`, `section-abstract` without a number."""
    names = UniqueNames()
    return [names.add(f"section-{safe_name(number) or safe_name(title) or 'untitled'}") for number, title in sections]


def safe_name(text: str) -> str:
    """Return a text as a name of lower-case letters, digits, dots and hyphens; "" if none of it remains."""
    folded = unicodedata.normalize("NFKC", text).lower()
    name = re.sub(r"[^\w.]+|_+", "-", folded)
    return re.sub(r"-{2,}", "-", re.sub(r"\.{2,}", ".", name)).strip("-.")[:_LONGEST].strip("-.")
