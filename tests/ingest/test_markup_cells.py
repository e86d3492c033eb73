"""Cells of markup in the places of a printed table, and what is left as printed."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ingest.markup_cells import join_markup
from paperscope_core.types import Box, Cell, Equation, Page, Paper, Place, Table

Rows = Sequence[Sequence[str]]


def place(x: float = 0.0, y: float = 0.0) -> Place:
    return Place(paper="p", page=1, box=Box(x, y, x + 10, y + 5))


def table(rows: Rows, *, label: str = "Table 1", header_rows: int = 1) -> Table:
    cells = tuple(
        Cell(row=row, column=column, text=text, place=place(20.0 * column, 10.0 * row))
        for row, line in enumerate(rows)
        for column, text in enumerate(line)
        if text
    )
    return Table(id="p/table-1", place=place(), order=0, cells=cells, label=label, header_rows=header_rows)


def paper(*elements: Table | Equation) -> Paper:
    page = Page(number=1, width=600, height=800)
    return Paper(id="p", title="", authors=(), sha256="", file="", pages=(page,), sections=(), elements=tuple(elements))


def joined(printed: Rows, markup: Rows, *, label: str = "Table 1") -> Table:
    [found] = join_markup(paper(table(printed)), paper(table(markup, label=label))).elements
    assert isinstance(found, Table)
    return found


PRINTED = (("Model", "F1", "Gain"), ("Small tagger", "88.4", "0.5"), ("Large tagger", "91.2", "1.3"))
STATED = (("Model", "F1", "Gain"), ("Small tagger", "88.4", "−0.5"), ("Large tagger", "91.2", "1.3"))


def test_signs_that_print_lost_are_the_markups() -> None:
    found = joined(PRINTED, STATED)
    assert found.grid() == [list(row) for row in STATED]
    assert [cell.place for cell in found.cells] == [cell.place for cell in table(PRINTED).cells]


def test_cells_that_were_read_as_one_are_several_and_each_has_a_place() -> None:
    found = joined((PRINTED[0], ("Small tagger 88.4", "", "0.5"), ("Large tagger", "91.2", "1.3")), STATED)
    assert found.grid()[1] == ["Small tagger", "88.4", "−0.5"]
    assert [cell.place.box.x0 for cell in found.cells if cell.row == 1] == [0, 0, 40]


def test_a_cell_that_was_not_read_stands_where_its_row_and_its_column_meet() -> None:
    found = joined((PRINTED[0], ("Small tagger", "", "0.5"), ("Large tagger", "91.2", "1.3")), STATED)
    assert next(cell.place.box for cell in found.cells if cell.text == "88.4") == place(20, 10).box


def test_another_number_stays_as_printed() -> None:
    assert joined(PRINTED, (STATED[0], ("Small tagger", "87.9", "−0.5"), STATED[2])).grid()[1][1] == "88.4"


def test_a_table_with_another_label_or_few_common_words_stays_as_printed() -> None:
    assert joined(PRINTED, STATED, label="Table 2") == table(PRINTED)
    assert joined(PRINTED, (("Corpus", "Size", "Gain"), ("News", "12", "7"))) == table(PRINTED)


def test_an_equation_gets_the_latex_of_its_number_if_they_have_signs_in_common() -> None:
    def equation(text: str, latex: str = "") -> Equation:
        return Equation(id="p/equation-1", place=place(), order=0, text=text, label="Equation 1", latex=latex)

    for text, latex in (("a = b/(c+1)", r"a = \frac{b}{c+1}"), ("x = y", "")):
        [found] = join_markup(paper(equation("a = b c+1")), paper(equation(text, latex or "x=y"))).elements
        assert isinstance(found, Equation)
        assert (found.latex, found.place) == (latex, place())


@given(st.lists(st.lists(st.sampled_from(("a", "b", "1.5", "2", "−2", "✓", "")), min_size=3, max_size=3), max_size=5))
def test_places_are_the_printed_papers(rows: Rows) -> None:
    found = joined(PRINTED, rows)
    assert (found.id, found.place, found.label) == ("p/table-1", place(), "Table 1")
    assert found == table(PRINTED) or len(found.cells) == len(table(rows).cells)
    corners = [(cell.place.page, cell.place.box) for cell in found.cells]
    assert all(page == 1 and 0 <= box.x0 < box.x1 <= 50 and 0 <= box.y0 < box.y1 <= 25 for page, box in corners)
