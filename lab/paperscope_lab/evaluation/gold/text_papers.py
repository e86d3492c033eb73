"""Papers made from gold text, without a file."""

from collections.abc import Sequence
from dataclasses import dataclass

from paperscope_core.types import Box, Page, Paper, Passage, PassageRole, Place, Section, content_hash

__all__ = ["TextSection", "text_paper"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TextSection:
    """A section's path, from the outermost title inwards, and its paragraphs."""

    path: tuple[str, ...]
    paragraphs: tuple[str, ...]


def text_paper(name: str, *, title: str, sections: Sequence[TextSection], with_headings: bool = False) -> Paper:
    """Return a paper with these paragraphs as passages, without empty ones, each on its own line of page 1.

    Its id derives from its content, and its file is called `name`. The title, if there is one, is a passage, too, and
    so are the headings on request.
    """
    content = "\0".join((name, title, *("\0".join((*section.path, *section.paragraphs)) for section in sections)))
    sha256 = content_hash(content.encode())
    paper = sha256[:12]
    passages: list[Passage] = []

    def add(text: str, *, role: PassageRole, section: str = "") -> None:
        if text.strip():
            order = len(passages) + 1
            place = Place(paper=paper, page=1, box=Box(0, order, 0, order))
            level = 1 if role == "heading" else 0
            passages.append(
                Passage(
                    id=f"{paper}/passage-{order}",
                    place=place,
                    order=order - 1,
                    text=text.strip(),
                    role=role,
                    section=section,
                    level=level,
                )
            )

    add(title, role="title")
    listed = []
    for number, section in enumerate(sections, start=1):
        listed.append(
            Section(
                id=f"{paper}/section-{number}",
                number="",
                title=section.path[-1] if section.path else "",
                level=max(len(section.path), 1),
                path=" > ".join(section.path),
            )
        )
        if with_headings:
            add(listed[-1].title, role="heading", section=listed[-1].id)
        for paragraph in section.paragraphs:
            add(paragraph, role="paragraph", section=listed[-1].id)
    return Paper(
        id=paper,
        title=title,
        authors=(),
        sha256=sha256,
        file=name,
        pages=(Page(number=1, width=0, height=0),),
        sections=tuple(listed),
        elements=tuple(passages),
        format="text",
    )
