"""Floats on generated pages are found whole, with their labels, and nothing else is (see `float_pages`)."""

from collections import Counter
from pathlib import Path

import pytest

from ingest.document.geometry import intersection
from ingest.pdf import PdfParser
from paperscope_core.types import Box, Element, Figure, Paper, PaperFile, Passage, Table, places_of
from tests.ingest.pdf.float_pages import TrueFloat, float_pages

SEEDS = (2, 9)  # Their pages have every kind of float, in one and in two columns.


def area(box: Box) -> float:
    return max(0.0, box.width) * max(0.0, box.height)


def kind_of(element: Element) -> str | None:
    if isinstance(element, Passage):
        return "listing" if element.role == "code" else None
    return element.kind if isinstance(element, Table | Figure) else None


def is_whole(found: Box, float_: TrueFloat, page: int, box: Box) -> bool:
    """Whether a box covers 95 % of a true one, and apart from its caption at most 5 % more."""
    caption = sum(area(intersection(found, other)) for number, other in float_.caption if number == page)
    inside = area(intersection(found, box))
    return inside >= 0.95 * area(box) and area(found) - inside - caption <= 0.05 * area(box)


def parse(pdf: bytes, folder: Path) -> Paper:
    file = folder / "paper.pdf"
    file.write_bytes(pdf)
    return PdfParser(dpi=36).parse(PaperFile(file)).paper


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_floats_are_whole_and_nothing_else_is_found(seed: int, tmp_path: Path) -> None:
    pages = float_pages(seed)
    found = parse(pages.pdf, tmp_path).elements
    elements = [element for element in found if isinstance(element, Passage | Table | Figure) and kind_of(element)]
    for float_ in pages.floats:
        [element] = [each for each in elements if (kind_of(each), each.label) == (float_.kind, float_.label)]
        boxes = [(place.page, place.box) for place in places_of(element)]
        assert [page for page, _ in boxes] == [page for page, _ in float_.boxes], float_
        for (page, seen), (_, box) in zip(boxes, float_.boxes, strict=True):
            assert is_whole(seen, float_, page, box), (float_, seen)
    assert Counter(map(kind_of, elements)) == Counter(float_.kind for float_ in pages.floats)
