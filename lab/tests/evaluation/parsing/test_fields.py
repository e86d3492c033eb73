"""Papers of many fields: what was read by eye from a page counts as the reference scorer of the set counts it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from paperscope_lab.evaluation.gold.papers import FieldLine, Gold
from paperscope_lab.evaluation.parsing.fields import score_fields

from paperscope_core.types import Box, Figure, Paper, Passage, Place, Publication, Table

MakePaper = Callable[..., Paper]
MakeTable = Callable[..., Table]
BOX = Box(100, 100, 300, 200)
GRID = (("", "Value"), ("HIV\u2212", "\u22120.76"), ("a*", "< 0.001"), ("Sites", "14"))


def shares(paper: Paper, *lines: FieldLine) -> dict[str, tuple[float, float]]:
    tallies = score_fields(paper, Gold(fields=lines)).tallies
    return {name.removeprefix("fields."): (tally.right, tally.total) for name, tally in tallies.items()}


def on_page(page: int = 1, box: Box = BOX) -> Place:
    return Place(paper="p", page=page, box=box)


FOLDED = (("", "", "value"), ("HIV-", "", "-0.76"), ("a\u2217", "", "<0.001"), ("sites", "", "14"), ("", "", ""))


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        (GRID, (7, 3, 1, 1)),
        (FOLDED, (7, 3, 1, 1)),
        ((("", "Value"), ("HIV", "20.76"), ("a*", "0.001"), ("Sites", "14")), (4, 0, 1, 0)),
        ((("Value", ""), *GRID[1:]), (6, 3, 1, 0)),
        ((GRID[3], GRID[2], ("HIV\u2212 \u22120.76", "")), (4, 1, 0, 0)),  # the shape is wrong: rows match anywhere
        ((), (0, 0, 0, 0)),
    ],
)
def test_cells_signs_and_shape_of_a_table(
    rows: Sequence[Sequence[str]], right: tuple[int, int, int, int], make_paper: MakePaper, make_table: MakeTable
) -> None:
    got = shares(
        make_paper(replace(make_table(rows), place=on_page())), FieldLine(paper="p", page=1, bbox=BOX, grid=GRID)
    )
    assert [got[name] for name in ("cells", "signs", "shape", "whole")] == list(zip(right, (7, 3, 1, 1), strict=True))


@pytest.mark.parametrize(("page", "top", "right"), [(1, 100, 1), (1, 179, 1), (1, 181, 0), (2, 100, 0)])
def test_the_table_that_covers_the_place_is_compared(
    page: int, top: float, right: int, make_paper: MakePaper, make_table: MakeTable
) -> None:
    small = replace(make_table([["x"]]), place=on_page(1, BOX._replace(y0=199)))
    paper = make_paper(small, replace(make_table(GRID), place=on_page(page, BOX._replace(y0=top))))
    assert shares(paper, FieldLine(paper="p", page=1, bbox=BOX, grid=GRID))["whole"] == (right, 1)


def test_a_table_or_figure_that_is_not_printed_is_a_phantom(make_paper: MakePaper, make_table: MakeTable) -> None:
    lines = [FieldLine(paper="p", page=page, no_table=True) for page in (1, 2)]
    lines += [FieldLine(paper="p", page=1, phantom=label) for label in ("Fig. S1", "Fig. S2")]
    figure = Figure(id="f", place=on_page(3), order=0, label="Fig. S1")
    got = shares(make_paper(replace(make_table(GRID), place=on_page()), figure), *lines)
    assert got == {"no_table": (1, 2), "no_figure": (1, 2)}


@pytest.mark.parametrize(("texts", "right"), [("ABC", 2), ("BAC", 1), ("AC", 0)])  # a lost one costs both its pairs
def test_neighbouring_starts_are_in_order(texts: str, right: int, make_paper: MakePaper) -> None:
    starts = {"A": "1 Introduction", "B": "The first words", "C": "Then more"}
    elsewhere = Passage(id="2", place=on_page(2), order=0, text=starts["B"])
    head = replace(elsewhere, id="1", place=on_page(), role="furniture")
    page = FieldLine(paper="p", page=1, starts=tuple(starts.values()))
    got = shares(make_paper(elsewhere, head, *(f"{starts[name]} and so on." for name in texts)), page)
    assert got == {"neighbours": (right, 2), "pages": (right == 2, 1)}


def test_a_record_counts_where_it_is_printed(make_paper: MakePaper) -> None:
    line = FieldLine(paper="p", title="On Ticks: \u2713", authors=("A. B. C\u00e9", "D E"), year=1990, doi="10.1/x")
    right = Publication(year=1990, doi="10.1/X")
    paper = make_paper(title="On ticks: a Review", authors=("A.B. C\u00e9", "D. E."), publication=right)
    assert shares(paper, line) == {"title": (1, 1), "authors": (1, 1), "year": (1, 1), "doi": (1, 1)}
    half = make_paper(title="REVIEW", authors=("A. B. C\u00e9",), publication=Publication(year=1990))
    assert shares(half, line) == {"title": (0, 1), "authors": (0, 1), "year": (1, 1), "doi": (0, 1)}


@pytest.mark.parametrize(("top", "bottom", "right"), [(124, 200, 1), (126, 200, 0), (100, 266, 1), (100, 267, 0)])
def test_a_figure_covers_the_picture_and_little_more(
    top: float, bottom: float, right: int, make_paper: MakePaper
) -> None:
    paper = make_paper(Figure(id="f", place=on_page(1, BOX._replace(y0=top, y1=bottom)), order=0))
    assert shares(paper, *(FieldLine(paper="p", page=page, bbox=BOX) for page in (1, 2))) == {"figures": (right, 2)}
