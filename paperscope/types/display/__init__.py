"""Values as people look at them: HTML for a notebook, text for a terminal.

Everything that came from papers, models and users is escaped. The HTML holds no script and no address, and takes its
colours from the page that it stands on, light or dark.
"""

from collections.abc import Sequence

from paperscope.types.answer import Answer
from paperscope.types.context import Context
from paperscope.types.display.answer import answer_html, answer_text
from paperscope.types.display.context import context_html, context_text, places_text
from paperscope.types.display.element import element_html, element_text
from paperscope.types.display.paper import paper_html, paper_text, papers_html
from paperscope.types.display.parts import Holder, Nothing, aside, details, fragment, grid
from paperscope.types.elements import Equation, Figure, Paper, Passage, Reference
from paperscope.types.shown import Shown
from paperscope.types.tables import Table

__all__ = [
    "Holder",
    "aside",
    "details",
    "fragment",
    "grid",
    "places_text",
    "several_html",
    "to_html",
    "to_text",
]


def to_html(value: Shown, holder: Holder | None = None) -> str:
    """A value as one block of HTML; `holder` has the pictures and tables that it only names."""
    holder = holder or Nothing()
    match value:
        case Answer():
            return answer_html(value, holder)
        case Context():
            return context_html(value, holder)
        case Paper():
            return paper_html(value)
        case Passage() | Table() | Figure() | Equation() | Reference():
            return element_html(value, holder)
        case _:
            return value._repr_html_()


def to_text(value: Shown) -> str:
    """A value as a line of text, an answer with its places."""
    match value:
        case Answer():
            return answer_text(value)
        case Context():
            return context_text(value)
        case Paper():
            return paper_text(value)
        case Passage() | Table() | Figure() | Equation() | Reference():
            return element_text(value)
        case _:
            return str(value)


def several_html(values: Sequence[Shown], holder: Holder | None = None) -> str:
    """Papers as a table with a row for each, anything else one after another."""
    papers = [value for value in values if isinstance(value, Paper)]
    if len(papers) == len(values):
        return papers_html(papers)
    return "".join(to_html(value, holder) for value in values)
