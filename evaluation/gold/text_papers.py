"""Papers made from gold text, without a file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.gold.graphs import GoldGraph, GoldSection
from paperscope_core.types import Box, Page, Paper, Passage, PassageRole, Place, Section, content_hash

__all__ = ["TextSection", "paper_of_graph", "text_paper"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TextSection:
    """A section's path, from the outermost title inwards, and its paragraphs."""

    path: tuple[str, ...]
    paragraphs: tuple[str, ...]


def text_paper(name: str, *, title: str, sections: Sequence[TextSection]) -> Paper:
    """Returns a paper with these paragraphs as passages, without empty ones, each on its own line of page 1.

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


def paper_of_graph(gold: GoldGraph) -> Paper:
    """Returns a one-page paper whose places count lines: each heading and each section text is a line and a passage."""
    sha256 = content_hash("\0".join(f"{section.heading}\n{section.text}" for section in gold.sections).encode())
    paper = sha256[:12]
    return Paper(
        id=paper,
        title="",
        authors=(),
        sha256=sha256,
        file=gold.name,
        pages=(Page(number=1, width=0, height=0),),
        sections=tuple(
            Section(id=_section_id(paper, number), number="", title=section.heading, level=1, path=section.heading)
            for number, section in enumerate(gold.sections, start=1)
        ),
        elements=tuple(_passages(gold, paper)),
        format="text",
    )


def _passages(gold: GoldGraph, paper: str) -> Iterator[Passage]:
    order = 0
    for number, section in enumerate(gold.sections, start=1):
        for text, is_heading in _section_texts(section):
            order += 1
            yield Passage(
                id=f"{paper}/passage-{order}",
                place=Place(paper=paper, page=1, box=Box(0, order, 0, order)),
                order=order,
                text=text,
                role="heading" if is_heading else "paragraph",
                section=_section_id(paper, number),
                level=1 if is_heading else 0,
            )


def _section_texts(section: GoldSection) -> Iterator[tuple[str, bool]]:
    if section.heading:
        yield section.heading, True
    if section.text:
        yield section.text, False


def _section_id(paper: str, number: int) -> str:
    return f"{paper}/section-{number}"
