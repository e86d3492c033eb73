"""What of a paper a question may be compared with in meaning: embedded beforehand, it makes no question wait."""

from collections.abc import Iterator

from paperscope_core.types import Element, Paper
from query.extractive.grid import view
from query.extractive.quotes import SHORTEST, texts_of
from query.extractive.tables import described

__all__ = ["weighed_texts"]


# Of a very long document the rest is embedded when a question first needs it.
_MOST = 4096


def weighed_texts(paper: Paper) -> list[str]:
    """The sentences and descriptions of tables that the answerer without a model commonly embeds, without repeats.

    It embeds others, too: references where a question asks for them, equations that no sentence introduces.
    """
    return list(dict.fromkeys(text for element in paper.elements for text in _texts_of(element)))[:_MOST]


def _texts_of(element: Element) -> Iterator[str]:
    if element.kind == "table":
        yield described(view(element))
    elif element.kind != "reference":
        yield from (text for text in texts_of(element) if len(text.split()) >= SHORTEST)
