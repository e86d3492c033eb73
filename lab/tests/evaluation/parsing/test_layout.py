"""Scores of figures, tables, listings and headings against boxes drawn by hand, with known faults."""

from collections.abc import Callable

import pytest
from paperscope_lab.evaluation.gold.papers import Gold, GoldPage, GoldRegion
from paperscope_lab.evaluation.parsing import score_paper
from paperscope_lab.evaluation.score import Score

from paperscope_core.types import Box, Element, Figure, Paper, Passage, Place, Table

MakePaper = Callable[..., Paper]
BOX = Box(100, 100, 300, 200)
CAPTION = Box(100, 210, 400, 230)
FIGURE = GoldRegion(kind="figure", label="Figure 2", box=BOX, caption_box=CAPTION)


def on_page(box: Box, page: int = 1) -> Place:
    return Place(paper="p", page=page, box=box)


def figure(box: Box, *, label: str = "Figure 2", page: int = 1) -> Figure:
    return Figure(id="f", place=on_page(box, page), order=0, label=label)


def passage(text: str, role: str = "heading", *boxes: Box) -> Passage:
    first, *more = boxes or (BOX,)
    places = tuple(on_page(box) for box in more)
    return Passage(id=text, place=on_page(first), order=0, text=text, role=role, more_places=places)  # type: ignore[arg-type]


def heading(text: str, *, optional: bool = False) -> GoldRegion:
    return GoldRegion(kind="heading", text=text, box=BOX, optional=optional)


@pytest.fixture
def shares(make_paper: MakePaper) -> Callable[..., dict[str, tuple[float, float]]]:
    def score(regions: list[GoldRegion], *elements: Element) -> dict[str, tuple[float, float]]:
        result: Score = score_paper(make_paper(*elements), Gold(pages=(GoldPage(number=1, regions=tuple(regions)),)))
        return {name.removeprefix("layout."): (tally.right, tally.total) for name, tally in result.tallies.items()}

    return score


Shares = Callable[..., dict[str, tuple[float, float]]]


@pytest.mark.parametrize(
    ("box", "found", "whole"),
    [
        (BOX, 1, 1),
        (BOX.union(CAPTION), 1, 1),  # a crop may show the caption
        (BOX.grown(3.9, 3.9), 1, 1),  # and has a margin
        (BOX._replace(y0=105), 1, 1),  # 95 %
        (BOX._replace(y0=106), 1, 0),
        (BOX._replace(y0=140), 1, 0),  # cut
        (BOX._replace(y0=152), 0, 0),  # only the lower half is left
        (BOX._replace(y0=90), 1, 0),  # a line of the text above
        (BOX.union(CAPTION)._replace(y1=260), 1, 0),  # prose below the caption
        (BOX._replace(y1=400), 0, 0),  # two floats in one
    ],
)
def test_a_region_is_found_and_whole(box: Box, found: int, whole: int, shares: Shares) -> None:
    got = shares([FIGURE], figure(box))
    assert got["figures.found"] == (found, 1)
    assert got["figures.whole"] == (whole, 1)
    assert got["figures.true"] == (1, 1)  # a part of the region, or more than the region, is no phantom


def test_an_element_beside_all_regions_of_its_kind_is_a_phantom(shares: Shares) -> None:
    table = Table(id="t", place=on_page(BOX), order=0, cells=())
    got = shares([FIGURE], figure(BOX), figure(Box(100, 400, 300, 500)), table)
    assert got["figures.true"] == (1, 2)
    assert got["tables.true"] == (0, 1)


def test_elements_of_other_pages_do_not_count(shares: Shares) -> None:
    got = shares([FIGURE], figure(BOX, page=2))
    assert got == {"figures.found": (0, 1), "figures.whole": (0, 1)}


def test_each_element_counts_for_one_region(shares: Shares) -> None:
    got = shares([FIGURE, FIGURE], figure(BOX))
    assert got["figures.found"] == (1, 2)


@pytest.mark.parametrize(("label", "right"), [("Fig. 2", 1), ("Figure 3", 0), ("", 0)])
def test_the_number_of_a_label_counts(label: str, right: int, shares: Shares) -> None:
    assert shares([FIGURE], figure(BOX, label=label))["labels"] == (right, 1)


def test_a_region_without_label_has_no_label_to_find(shares: Shares) -> None:
    listing = GoldRegion(kind="listing", box=BOX)
    assert "labels" not in shares([listing], passage("x = 1", "code", BOX))


def test_a_listing_over_two_columns_is_the_hull_of_its_boxes(shares: Shares) -> None:
    listing = GoldRegion(kind="listing", box=BOX)
    left, right = BOX._replace(x1=195), BOX._replace(x0=205)
    assert shares([listing], passage("x = 1", "code", left, right))["listings.whole"] == (1, 1)
    assert shares([listing], passage("x = 1", "code", left))["listings.whole"] == (0, 1)


def test_headings_match_by_their_text(shares: Shares) -> None:
    got = shares(
        [heading("3.1 Data"), heading("B  DATASET DETAILS")], passage("3.1 Data."), passage("B Dataset Details")
    )
    assert got == {"headings.found": (2, 2), "headings.true": (2, 2)}
    got = shares([heading("3.1 Data")], passage("Paper Search"))
    assert got == {"headings.found": (0, 1), "headings.true": (0, 1)}


def test_optional_regions_are_neither_missed_nor_phantoms(shares: Shares) -> None:
    optional = heading("Data source.", optional=True)
    assert shares([optional]) == {}
    assert shares([optional], passage("Data source.")) == {}
    assert shares([optional, heading("3 Method")], passage("Data source."), passage("3 Method")) == {
        "headings.found": (1, 1),
        "headings.true": (1, 1),
    }
