"""Places in TEI: the boxes that GROBID gives in `coords`, or else lines of the source."""

from itertools import groupby

from ingest.markup.nodes import Node
from ingest.markup.spots import Lines
from paperscope.types import Box, Page, Place

__all__ = ["LinePlaces", "NoCoordinatesError", "PagePlaces", "pages_of"]

# What carries the coordinates of the element round it.
_CARRIERS = ("s", "head", "label", "figdesc", "table", "graphic", "formula", "title", "persname", "p")
_MOST_BOXES = 20_000


class NoCoordinatesError(Exception):
    """An element without coordinates: the file's places are lines."""


class LinePlaces:
    """Places as lines."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def of(self, *nodes: Node) -> tuple[Place, ...]:
        """One place, from the first node to the last."""
        return (self._lines.of(*nodes),)


class PagePlaces:
    """Places as boxes on pages. Raises `NoCoordinatesError` for what has none."""

    def __init__(self, paper: str) -> None:
        self._paper = paper

    def of(self, *nodes: Node) -> tuple[Place, ...]:
        """One place for each page on which the nodes stand, in their order."""
        boxes = [box for node in nodes for box in _boxes(node)]
        if not boxes:
            raise NoCoordinatesError
        places = []
        for page, group in groupby(boxes, key=lambda item: item[0]):
            whole, *rest = [box for _, box in group]
            for box in rest:
                whole = whole.union(box)
            places.append(Place(paper=self._paper, page=page, box=whole.rounded()))
        return tuple(places)


def pages_of(root: Node) -> tuple[Page, ...]:
    """The pages that `facsimile` lists with their sizes, in their order."""
    pages = {}
    for surface in root.all("surface"):
        number = surface.get("n")
        try:
            width, height = float(surface.get("lrx")), float(surface.get("lry"))
        except ValueError:
            continue
        if number.isascii() and number.isdigit() and 0 < width < 20_000 and 0 < height < 20_000:
            pages[int(number)] = Page(number=int(number), width=round(width, 1), height=round(height, 1))
    return tuple(pages[number] for number in sorted(pages))


def _boxes(node: Node) -> list[tuple[int, Box]]:
    """The boxes of a node, or those of its parts if it has none itself."""
    own = _parsed(node.get("coords"))
    if own:
        return own
    return [
        box
        for part in node.where(lambda part: bool(part.get("coords")) and part.tag in _CARRIERS)
        for box in _parsed(part.get("coords"))
    ]


def _parsed(coords: str) -> list[tuple[int, Box]]:
    """`1,53.8,200.0,240.1,9.6;2,…`: page, x, y, width, height."""
    boxes = []
    for part in coords.split(";", _MOST_BOXES):
        try:
            page, x, y, width, height = map(float, part.split(","))
            number = int(page)
        except (ValueError, OverflowError):
            continue
        if 0 < number < 100_000 and all(abs(value) < 100_000 for value in (x, y, width, height)):
            boxes.append((number, Box(x, y, x + width, y + height)))
    return boxes
