"""An element as text, and the elements that have a picture."""

from paperscope.types import Element, Equation, Figure, Paper, Table

__all__ = ["PICTURED", "Pictured", "caption_of", "element_text", "kind_of", "mentions_of"]

Pictured = Table | Figure | Equation
PICTURED = frozenset(("table", "figure", "equation"))
"""The kinds of `Pictured`."""


def kind_of(element: str) -> str:
    """The kind of an element by its id (see `Paper`), for where there is no need to fetch it."""
    return element.rpartition("/")[2].partition("-")[0]


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
