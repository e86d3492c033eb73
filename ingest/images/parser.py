"""`ImageParser`: a picture file to a `ParsedPaper`."""

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from ingest.building import paper_of
from ingest.images.frames import FramesBackend
from ingest.ocr import OcrBackend, Recognition
from ingest.pdf.crops import add_crops
from ingest.pdf.document import read_document
from ingest.pdf.drafts import Draft
from ingest.source import read_file
from paperscope.types import Box, Element, Figure, Page, Paper, ParsedPaper, Place

__all__ = ["ImageParser"]

_LITTLE_TEXT = 200


class ImageParser:
    """Reads papers from picture files: the text of each frame is recognised and read by the rules for PDF pages.

    A page on which little or nothing is recognised is a figure, whole, beside whatever text there is.
    """

    def __init__(self, *, recognition: Recognition, dpi: int = 200, max_pages: int | None = None) -> None:
        self._backend = OcrBackend(FramesBackend(), recognition)
        self._dpi = dpi
        self._max_pages = max_pages

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`; pictures have no password."""
        data = read_file(file)
        with self._backend.open(data, name=file.name, password=password) as document:
            read = read_document(
                document,
                sha256=hashlib.sha256(data).hexdigest(),
                file=file.name,
                format="image",
                max_pages=self._max_pages,
                on_page=on_page,
            )
            return add_crops(_with_pictures(read.paper), document, views=read.views, dpi=self._dpi)


def _with_pictures(paper: Paper) -> Paper:
    """The paper with a figure for each page of little text, after the page's other elements."""
    letters: Counter[int] = Counter()
    last: dict[int, float] = {}
    for element in paper.elements:
        letters[element.place.page] += len(_text(element))
        last[element.place.page] = element.order
    bare = [page for page in paper.pages if letters[page.number] < _LITTLE_TEXT]
    if not bare:
        return paper
    drafts = [Draft(at=element.order, element=element) for element in paper.elements]
    for page in bare:
        at = max((order for number, order in last.items() if number <= page.number), default=-1) + 0.5
        drafts.append(Draft(at=at, element=_figure(page, paper=paper.id)))
    drafts.sort(key=lambda draft: draft.at)
    return paper_of(
        drafts,
        sha256=paper.sha256,
        file=paper.file,
        title=paper.title,
        authors=paper.authors,
        pages=paper.pages,
        problems=paper.problems,
        format=paper.format,
    )


def _text(element: Element) -> str:
    match element.kind:
        case "table":
            return "".join(cell.text for cell in element.cells)
        case "figure":
            return element.text + element.caption
        case _:
            return element.text


def _figure(page: Page, *, paper: str) -> Figure:
    place = Place(paper=paper, page=page.number, box=Box(0.0, 0.0, page.width, page.height))
    return Figure(id="", place=place, order=0)
