"""The rows of a table have the headers that a reader gives them."""

from collections.abc import Sequence

import pytest

from paperscope_core.types import Box, Cell, Place, Table
from paperscope_core.types.tables import is_bracketed, table_rows


def table_of(*rows: Sequence[str], stubs: int) -> Table:
    """A table whose first row names its columns; an empty text is no cell."""
    place = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
    cells = tuple(
        Cell(
            row=row,
            column=column,
            text=text,
            place=place,
            role="column_header" if row == 0 else "row_header" if column < stubs else "value",
        )
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
        if text
    )
    return Table(id="p/table-1", place=place, order=0, header_rows=1, cells=cells)


def test_an_empty_outer_header_repeats_the_one_above() -> None:
    rows = [("Site", "Measure", "n"), ("Prawn", "Eggs", "1"), ("", "Worms", "2"), ("Control", "Eggs", "3")]
    names = [row.headers for row in table_rows(table_of(*rows, stubs=2))]
    assert names == [("Prawn", "Eggs"), ("Prawn", "Worms"), ("Control", "Eggs")]


def test_a_nameless_row_in_brackets_has_the_headers_above_and_another_one_none() -> None:
    rows = [("", "(1)"), ("Schooling", "0.08"), ("", "(0.01)"), ("", "0.3"), ("Tenure", "0.03"), ("", "[0.0, 0.1]**")]
    names = [row.headers for row in table_rows(table_of(*rows, stubs=1))]
    assert names == [("Schooling",), ("Schooling",), (), ("Tenure",), ("Tenure",)]


@pytest.mark.parametrize(
    ("text", "bracketed"), [("(0.01)", True), ("[1.2, 3]**", True), ("0.1 (0.2)", False), ("(", False), ("", False)]
)
def test_a_text_is_bracketed_if_brackets_enclose_it(text: str, *, bracketed: bool) -> None:
    assert is_bracketed(text) == bracketed
