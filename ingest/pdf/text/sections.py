"""The sections of a paper, from its headings."""

from collections.abc import Sequence

from ingest.pdf.drafts import Draft
from ingest.pdf.text.heading_styles import split_number
from paperscope.types import Passage, Section

__all__ = ["section_at", "sections_of"]


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
