"""The boxes of crops, on a document that draws nothing."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest
from PIL import Image

from ingest.document.crops import add_crops
from ingest.document.pages import Document, PageContent
from paperscope_core.types import Box, Figure, Page, Paper, Place, Table

TABLE = Box(100, 100, 300, 200)


class BlankDocument:
    """Remembers what it was asked to render."""

    def __init__(self) -> None:
        self.boxes: list[Box] = []

    def render(self, _number: int, boxes: Sequence[Box], *, dpi: int, turns: int) -> list[bytes]:
        self.boxes.extend(boxes)
        out = io.BytesIO()
        Image.new("RGB", (dpi, dpi + turns), "white").save(out, "PNG")
        return [out.getvalue()] * len(boxes)


def crop_box(element: Table | Figure) -> Box:
    """The box of the page that is rendered for an element."""
    document = BlankDocument()
    paper = replace(EMPTY, elements=(element,))
    views = [PageContent(number=1, width=400, height=400)]
    parsed = add_crops(paper, cast("Document", document), views=views, dpi=72)
    assert parsed.paper.elements[0].place == element.place
    [box] = document.boxes
    return box


EMPTY = Paper(
    id="p",
    title="",
    authors=(),
    sha256="",
    sections=(),
    pages=(Page(number=1, width=400, height=400),),
    elements=(),
    format="pdf",
    file="p.pdf",
)
PLAIN = Table(id="t", place=Place(paper="p", page=1, box=TABLE), order=0, cells=())
DRAWN = Figure(id="f", place=Place(paper="p", page=1, box=TABLE), order=0)


@pytest.mark.parametrize("element", [PLAIN, DRAWN])
@pytest.mark.parametrize(
    ("caption", "box"),
    [
        (Box(100, 202.5, 300, 226), Box(96, 96, 304, 202.5)),
        (Box(100, 60, 300, 98), Box(96, 98, 304, 204)),
        (Box(301, 120, 390, 160), Box(96, 96, 301, 204)),
        (Box(10, 120, 99, 160), Box(99, 96, 304, 204)),
        (Box(100, 210, 300, 230), Box(96, 96, 304, 204)),
        (Box(100, 196, 320, 220), Box(96, 96, 320, 220)),
    ],
    ids=["below", "above", "right", "left", "further away", "overlapping"],
)
def test_no_line_of_a_caption_is_cut(element: Table | Figure, caption: Box, box: Box) -> None:
    assert crop_box(replace(element, caption_place=Place(paper="p", page=1, box=caption))) == box


def test_a_caption_on_another_page_does_not_matter() -> None:
    assert crop_box(replace(PLAIN, caption_place=Place(paper="p", page=2, box=TABLE))) == Box(96, 96, 304, 204)
