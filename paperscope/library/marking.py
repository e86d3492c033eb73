"""Which boxes of a page are meant by places and elements."""

from collections.abc import Iterator, Sequence

from paperscope.errors import InputError
from paperscope.types import Box, Element, Equation, Figure, Paper, Place, Table

__all__ = ["boxes_on"]


def boxes_on(paper: Paper, page: int, marked: Sequence[Box | Place | str]) -> tuple[Box, ...]:
    """The boxes on a page, each once: boxes as they are, the places of this paper that are on it, and those of the
    elements with these ids. Raises InputError for an id that is none of the paper's."""
    boxes: dict[Box, None] = {}
    for one in marked:
        if isinstance(one, Box):
            boxes[one] = None
            continue
        places = (one,) if isinstance(one, Place) else _places(_element(paper, one))
        boxes |= {place.box: None for place in places if (place.paper, place.page) == (paper.id, page)}
    return tuple(boxes)


def _element(paper: Paper, name: str) -> Element:
    for element in paper.elements:
        if element.id == name:
            return element
    raise InputError(f"no element {name!r} in {paper.file!r}; the paper's elements tell their ids")


def _places(element: Element) -> Iterator[Place]:
    """All that belongs to an element: its parts on other columns and pages, its caption."""
    yield element.place
    if not isinstance(element, Figure | Equation):
        yield from element.more_places
    if isinstance(element, Table | Figure) and element.caption_place is not None:
        yield element.caption_place
