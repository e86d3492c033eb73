"""Cross-references: which passages name which tables, figures, equations, sections and references."""

from collections.abc import Iterator, Mapping, Sequence

from ingest.pdf.links.citations import Citations
from ingest.pdf.links.mentions import mentions_of
from paperscope.types import Element, Figure, Link, Passage, Reference, Section, Table

__all__ = ["find_links"]

_SILENT = ("furniture", "title", "authors")


def find_links(elements: Sequence[Element], sections: Sequence[Section]) -> tuple[Link, ...]:
    """One link for each element, target and the words that name it, in reading order."""
    targets = _targets(elements, sections)
    texts = {element.id: _text(element) for element in elements}
    citations = Citations([element for element in elements if isinstance(element, Reference)], texts.values())
    links: dict[Link, None] = {}
    for source, text in texts.items():
        for mention in (*mentions_of(text), *citations.of(text)):
            target = targets.get(mention.label)
            if target is not None and target != source:
                links.setdefault(Link(source=source, target=target, text=mention.text))
    return tuple(links)


def _text(element: Element) -> str:
    match element:
        case Passage(role="code") | Table() | Figure():
            return element.caption
        case Passage() if element.role not in _SILENT:
            return element.text
        case _:
            return ""


def _targets(elements: Sequence[Element], sections: Sequence[Section]) -> Mapping[str, str]:
    """Element ids by what a text calls them; a section by the heading that opens it. The first of a name counts."""
    headings = {
        element.section: element.id
        for element in reversed(elements)
        if isinstance(element, Passage) and element.role == "heading"
    }
    targets: dict[str, str] = {}
    for name, section in _section_names(sections):
        if section in headings:
            targets.setdefault(f"Section {name}", headings[section])
    for element in elements:
        if element.label:
            targets.setdefault(element.label, element.id)
    return targets


def _section_names(sections: Sequence[Section]) -> Iterator[tuple[str, str]]:
    """The number and id of each section; `A` below `III` is `III-A`, and a letter alone names an appendix only."""
    parents: list[Section] = []
    for section in sections:
        while parents and parents[-1].level >= section.level:
            parents.pop()
        lettered = len(section.number) == 1 and section.number.isalpha()
        if parents and lettered:
            yield f"{parents[-1].number}-{section.number}", section.id
        elif section.number:
            yield section.number, section.id
        parents.append(section)
