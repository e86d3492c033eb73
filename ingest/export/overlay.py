"""Draws the elements that a parser read over the image of their page."""

from collections.abc import Callable, Iterator, Mapping

from ingest.export.drawing import Color, Mark, draw_marks
from paperscope_core.types import Element, Figure, Page, Paper, Passage, Place, Reference, Table, places_of

__all__ = ["LEGEND", "RenderPage", "draw_page", "overlay_names", "page_marks"]

_DPI = 110
LEGEND: Mapping[str, Color] = {
    "title, authors": (106, 61, 154),
    "heading": (192, 28, 40),
    "text": (38, 110, 190),
    "list": (0, 130, 140),
    "code": (90, 90, 90),
    "footnote": (140, 100, 60),
    "reference": (100, 110, 130),
    "table": (20, 130, 50),
    "figure": (200, 100, 0),
    "equation": (190, 30, 140),
    "furniture": (160, 160, 160),
}
_ROLES = {"title": "title, authors", "authors": "title, authors", "abstract": "text", "paragraph": "text"}

RenderPage = Callable[[Page, int], bytes]
"""Renders a page of a file as PNG, with so many dots per inch. Raises PaperFileError if it can't be drawn."""


def overlay_names(paper: Paper) -> dict[int, str]:
    """Returns the path of each page's picture by the page's number: `overlay/page-01.png`."""
    digits = max(2, *(len(str(page.number)) for page in paper.pages))
    return {page.number: f"overlay/page-{page.number:0{digits}}.png" for page in paper.pages}


def draw_page(paper: Paper, page: Page, render: RenderPage) -> bytes:
    """Returns a page with its elements, as PNG. Raises PaperFileError if the page can't be drawn."""
    return draw_marks(render(page, _DPI), page_marks(paper, page.number), width=page.width, legend=LEGEND)


def page_marks(paper: Paper, page: int) -> list[Mark]:
    """The marks of a page: each element with its number in reading order (furniture has none) and its label;
    continuations with "…" before the number; captions, panels and table cells as fine boxes."""
    shown = [element for element in paper.elements if _kind(element) != "furniture"]
    numbers = {element.id: number for number, element in enumerate(shown, start=1)}
    return [mark for element in paper.elements for mark in _marks(element, page, number=numbers.get(element.id, 0))]


def _marks(element: Element, page: int, *, number: int) -> Iterator[Mark]:
    color = LEGEND[_kind(element)]
    name = " ".join(filter(None, [str(number or ""), "" if isinstance(element, Reference) else element.label]))
    if element.place.page == page:
        yield Mark(box=element.place.box, color=color, label=name)
    for place in places_of(element)[1:]:
        if place.page == page:
            yield Mark(box=place.box, color=color, label=f"…{number or ''}")
    for place in _inner_places(element):
        if place.page == page:
            yield Mark(box=place.box, color=color, fine=True)


def _kind(element: Element) -> str:
    """Returns the element's word in the legend."""
    return _ROLES.get(element.role, element.role) if isinstance(element, Passage) else element.kind


def _inner_places(element: Element) -> Iterator[Place]:
    if isinstance(element, Table):
        yield from (cell.place for cell in element.cells if cell.text)
    if isinstance(element, Figure):
        yield from (panel.place for panel in element.panels)
    if isinstance(element, Table | Figure) and element.caption_place:
        yield element.caption_place
