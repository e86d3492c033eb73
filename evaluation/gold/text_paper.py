"""Papers that are known as text alone, without a file."""

from collections.abc import Sequence
from dataclasses import dataclass

from paperscope_core.types import Box, Page, Paper, Passage, PassageRole, Place, Section, content_hash

__all__ = ["TextSection", "text_paper"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TextSection:
    """A section's path, from the outermost title inwards, and its paragraphs."""

    path: tuple[str, ...]
    paragraphs: tuple[str, ...]


def text_paper(name: str, *, title: str, sections: Sequence[TextSection]) -> Paper:
    """A paper whose passages are these paragraphs, blank ones left out; each stands on a line of its own on page 1.

    Its id derives from its content, and its file is called `name`.
    """
    content = "\0".join((name, title, *("\0".join((*section.path, *section.paragraphs)) for section in sections)))
    sha256 = content_hash(content.encode())
    paper = sha256[:12]
    elements = [_passage(paper, 1, title, role="title")]
    listed = []
    for number, section in enumerate(sections, start=1):
        path = " > ".join(section.path)
        listed.append(
            Section(
                id=f"{paper}/section-{number}",
                number="",
                title=section.path[-1] if section.path else "",
                level=max(len(section.path), 1),
                path=path,
            )
        )
        for paragraph in section.paragraphs:
            if paragraph.strip():
                place = len(elements) + 1
                elements.append(_passage(paper, place, paragraph.strip(), section=f"{paper}/section-{number}"))
    return Paper(
        id=paper,
        title=title,
        authors=(),
        sha256=sha256,
        file=name,
        pages=(Page(number=1, width=0, height=0),),
        sections=tuple(listed),
        elements=tuple(elements),
        format="text",
    )


def _passage(paper: str, line: int, text: str, *, role: PassageRole = "paragraph", section: str = "") -> Passage:
    place = Place(paper=paper, page=1, box=Box(0, line, 0, line))
    return Passage(id=f"{paper}/passage-{line}", place=place, order=line - 1, text=text, role=role, section=section)
