"""An answer as a notebook shows it, with the pictures and tables that only the library holds."""

from collections.abc import Callable
from dataclasses import dataclass

from paperscope.types import Answer, Element, Table
from paperscope.types.answer_html import answer_html

__all__ = ["AnswerView", "view_answer"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerView:
    """An answer and its HTML: one page fragment without scripts or links, pictures included."""

    answer: Answer
    html: str

    def _repr_html_(self) -> str:
        return self.html


def view_answer(
    answer: Answer, *, find_crop: Callable[[str], bytes], find_element: Callable[[str], Element]
) -> AnswerView:
    """Show an answer with the crops of its exhibits, and the tables with the cited cells marked.

    What is not found (KeyError) is told in words.
    """
    cited = {exhibit.element: [one.cell for one in exhibit.cells] for exhibit in answer.exhibits}

    def crop(name: str) -> bytes:
        try:
            return find_crop(name)
        except KeyError:
            return b""

    def table(name: str) -> str:
        try:
            element = find_element(name)
        except KeyError:
            return ""
        return element.to_html(marked=cited[name]) if isinstance(element, Table) else ""

    return AnswerView(answer=answer, html=answer_html(answer, crop=crop, table=table))
