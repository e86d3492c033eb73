"""The text of an element, shared by chunks, extractors and their checks."""

from paperscope_core.types import Element, Equation, Figure, Passage, Reference, Table
from paperscope_core.types.elements import title_lines
from paperscope_core.types.tables import table_lines

__all__ = ["element_text", "table_outline"]


def element_text(element: Element) -> str:
    """Return the text of an element, label and caption first; rows of a table read "ROW | COLUMN: VALUE | ...", one a
    line."""
    match element:
        case Passage():
            return element.text
        case Table():
            return "\n".join([*title_lines(element), *table_lines(element)])
        case Figure():
            return "\n".join([*title_lines(element), *filter(None, [" ".join(element.text.split())])])
        case Equation():
            return f"{element.label}: {element.text}" if element.label else element.text
        case Reference():
            return element.text if element.label in element.text else f"{element.label} {element.text}"


def table_outline(table: Table) -> str:
    """`element_text` of a table without its numbers, for extracting names."""
    return "\n".join([*title_lines(table), *table_lines(table, keeps=lambda text: any(map(str.isalpha, text)))])
