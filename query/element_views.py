"""An element as text, and which elements have a picture."""

import re

from paperscope_core.protocols import Corpus
from paperscope_core.text.escaping import plain_csv
from paperscope_core.types import ContextSource, Element, Equation, Evidence, Figure, Paper, Table, places_of

__all__ = [
    "ImageElement",
    "caption_of",
    "element_text",
    "elements_of",
    "evidence_in",
    "has_image",
    "is_reference",
    "referring_texts",
    "strip_excerpt_note",
]

ImageElement = Table | Figure | Equation
# Ids contain the kind of an element (see `Paper`), so the element need not be loaded.
_PICTURED = re.compile(r"/(?:table|figure|equation)-[^/]+$")
# The last line of `table_excerpt`.
_EXCERPT_NOTE = re.compile(r"(?m)^… \d+ of \d+ rows, \d+ of \d+ columns shown$\n?")
_REFERENCE = re.compile(r"/reference-[^/]+$")


def has_image(element: str) -> bool:
    """Return whether the element with this id has an image."""
    return _PICTURED.search(element) is not None


def is_reference(element: str) -> bool:
    """Return whether the element with this id is a bibliography entry."""
    return _REFERENCE.search(element) is not None


def caption_of(element: ImageElement) -> str:
    """Return the caption; for an equation, which has none, its text."""
    return element.text if isinstance(element, Equation) else element.caption


def element_text(element: Element) -> str:
    """Return the whole text of an element, label and caption first; the cells of a table as CSV rows, an equation with
    its LaTeX."""
    if not isinstance(element, ImageElement):
        return element.text
    if isinstance(element, Equation):
        return "\n".join(filter(None, (element.label, element.text, element.latex_line)))
    text = plain_csv(element.grid()) if isinstance(element, Table) else element.text
    return "\n".join(filter(None, (element.label, element.caption, text)))


def evidence_in(element: Element, quote: str = "", *, longest: int | None = None) -> Evidence:
    """Return an element as evidence, at the places that print the quotation, which is cut off after `longest`
    characters."""
    place, *more = places_of(element, quote)
    return Evidence(element=element.id, place=place, quote=quote[:longest], more_places=tuple(more))


def elements_of(source: ContextSource, corpus: Corpus) -> list[Element]:
    """Return the elements of a source in reading order: those of its chunk, or those at its places if it is a part of a
    paper that was looked up; only its own element if it is an excerpt."""
    chunks = corpus.chunks_of([source.element])
    ids = next((chunk.elements for chunk in chunks if chunk.shown == source.content), (source.element,))
    if len(ids) > 1 or not source.more_places:
        return list(corpus.elements(ids).values())
    places = set(source.places)
    at = [one for one in corpus.paper(source.place.paper).elements if one.place in places]
    return at if any(one.id == source.element for one in at) else list(corpus.elements(ids).values())


def referring_texts(paper: Paper, element: str) -> list[str]:
    """Return the texts of the elements that refer to this one ("see Table 6"), in reading order."""
    sources = {link.source for link in paper.links if link.target == element}
    return [element_text(other) for other in paper.elements if other.id in sources]


def strip_excerpt_note(content: str) -> str:
    """Return the content of a source without the line that `table_excerpt` appends."""
    return _EXCERPT_NOTE.sub("", content)
