"""An element as text, and which elements have a picture."""

import re

from paperscope_core.types import Element, Equation, Figure, Paper, Table

__all__ = ["Pictured", "caption_of", "element_text", "is_pictured", "is_reference", "mentions_of"]


Pictured = Table | Figure | Equation
# Ids tell the kind of an element (see `Paper`): it need not be fetched for that.
_PICTURED = re.compile(r"/(?:table|figure|equation)-\d+$")
_REFERENCE = re.compile(r"/reference-\d+$")


def is_pictured(element: str) -> bool:
    """Whether the element under an id has a picture."""
    return _PICTURED.search(element) is not None


def is_reference(element: str) -> bool:
    """Whether the element under an id stands in a bibliography."""
    return _REFERENCE.search(element) is not None


def caption_of(element: Pictured) -> str:
    """The caption; an equation has none, so its own text stands for it."""
    return element.text if isinstance(element, Equation) else element.caption


def element_text(element: Element) -> str:
    """All that an element says, label and caption first; a table's cells as CSV rows."""
    if isinstance(element, Table):
        return "\n".join(part for part in (element.label, element.caption, element.to_csv()) if part)
    if isinstance(element, Figure):
        return "\n".join(part for part in (element.label, element.caption, element.text) if part)
    if isinstance(element, Equation):
        return f"{element.label}\n{element.text}" if element.label else element.text
    return element.text


def mentions_of(paper: Paper, element: str) -> list[str]:
    """Texts of the paper's elements that refer to this one ("see Table 6"), in reading order."""
    sources = {link.source for link in paper.links if link.target == element}
    return [element_text(other) for other in paper.elements if other.id in sources]
