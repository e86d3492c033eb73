"""TEDS of small tables, worked out by hand."""

from collections.abc import Callable

import pytest
from paperscope_lab.evaluation.parsing.teds import teds, tree_of_table

from paperscope_core.types import Table


@pytest.mark.parametrize(
    ("rows", "similarity"),
    [
        ((("a", "b"), ("c", "d")), 1.0),
        ((("a", "b"), ("c", "x")), 1 - 1 / 7),  # one cell's text of one letter
        ((("a", "b"),), 1 - 3 / 7),  # a row with its two cells
        ((("a", "b"), ("c", "dxxx")), 1 - 0.75 / 7),  # three of four letters
    ],
)
def test_teds_of_small_tables(
    rows: tuple[tuple[str, ...], ...], similarity: float, make_table: Callable[..., Table]
) -> None:
    gold = tree_of_table(make_table((("a", "b"), ("c", "d"))))
    assert teds(gold, tree_of_table(make_table(rows))) == pytest.approx(similarity)


def test_a_span_is_another_cell(make_table: Callable[..., Table]) -> None:
    rows = (("a", "b"), ("c", "d"))
    spanned = tree_of_table(make_table(rows, spans={(0, 0): (1, 2)}))
    assert teds(tree_of_table(make_table(rows)), spanned) == pytest.approx(1 - 2 / 7)
