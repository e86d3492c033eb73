"""A gold document as a paper, as if it had been read from a file."""

from collections.abc import Iterator

from evaluation.gold.graphs import GoldGraph, GoldSection
from paperscope_core.types import Box, Page, Paper, Passage, Place, Section, content_hash

__all__ = ["paper_of"]


def paper_of(gold: GoldGraph) -> Paper:
    """A paper of one page whose places count lines: a heading or a section's text is a line and a passage each."""
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
            Section(id=_section(paper, number), number="", title=section.heading, level=1, path=section.heading)
            for number, section in enumerate(gold.sections, start=1)
        ),
        elements=tuple(_passages(gold, paper)),
        format="text",
    )


def _passages(gold: GoldGraph, paper: str) -> Iterator[Passage]:
    order = 0
    for number, section in enumerate(gold.sections, start=1):
        for text, is_heading in _texts(section):
            order += 1
            yield Passage(
                id=f"{paper}/passage-{order}",
                place=Place(paper=paper, page=1, box=Box(0, order, 0, order)),
                order=order,
                text=text,
                role="heading" if is_heading else "paragraph",
                section=_section(paper, number),
                level=1 if is_heading else 0,
            )


def _texts(section: GoldSection) -> Iterator[tuple[str, bool]]:
    if section.heading:
        yield section.heading, True
    if section.text:
        yield section.text, False


def _section(paper: str, number: int) -> str:
    return f"{paper}/section-{number}"
