"""From docling's boxes to places: its origin is the bottom left corner of the page at times, ours the top left."""

from ingest.docling.nodes import Corners, DoclingFile, Node
from paperscope.types import Box, Page, Place

__all__ = ["Places"]


class Places:
    """Makes places on the pages of a paper; what has no box of its own stands where the last box stood."""

    def __init__(self, document: DoclingFile, *, paper: str) -> None:
        self._paper = paper
        self.pages = tuple(
            Page(number=number, width=round(node.size.width, 1), height=round(node.size.height, 1))
            for number, node in sorted(document.pages.items())
        )
        self._sizes = {page.number: page for page in self.pages}
        self._last = Place(paper=paper, page=self.pages[0].number if self.pages else 1, box=Box(0, 0, 0, 0))

    def of(self, node: Node) -> tuple[Place, ...]:
        """The places of a node, the one where it begins first; there is at least one."""
        parts = [part for part in node.prov if part.page_no in self._sizes]
        places = tuple(self.at(part.page_no, part.bbox) for part in parts)
        if places:
            self._last = places[-1]
        return places or (self._last,)

    def at(self, page: int, corners: Corners) -> Place:
        """The place of a box on a page that the document has."""
        size = self._sizes[page]
        bottom = corners.coord_origin.upper() == "BOTTOMLEFT"
        ys = [size.height - y if bottom else y for y in (corners.t, corners.b)]
        xs = [corners.l, corners.r]
        box = Box(_within(min(xs), size.width), _within(min(ys), size.height),
                  _within(max(xs), size.width), _within(max(ys), size.height))  # fmt: skip
        return Place(paper=self._paper, page=page, box=box.rounded())


def _within(value: float, most: float) -> float:
    return min(max(value, 0.0), most)
