"""Places, tables and cache keys, and the JSON of values."""

import csv
import io
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paperscope_core.codec import from_json, to_json
from paperscope_core.text.words import entity_key, singular_key
from paperscope_core.types import (
    Box,
    Cell,
    Message,
    ModelRequest,
    Page,
    PageProblem,
    Paper,
    Place,
    Table,
    Usage,
    content_hash,
)

coordinates = st.floats(0, 2000).map(lambda value: round(value, 1))
boxes = st.builds(Box, coordinates, coordinates, coordinates, coordinates)
places = st.builds(Place, paper=st.from_regex(r"[0-9a-f]{12}", fullmatch=True), page=st.integers(1, 5000), box=boxes)
Role = Literal["column_header", "row_header", "section", "value"]
PLACE = Place(paper="3f2a9c1b7d10", page=6, box=Box(72.0, 100.5, 290.0, 210.0))


def cell(row: int, column: int, text: str, *, rows: int = 1, columns: int = 1, role: Role = "value") -> Cell:
    return Cell(row=row, column=column, text=text, place=PLACE, row_span=rows, column_span=columns, role=role)


def two_level_table() -> Table:
    """Two groups of two columns over one body row."""
    cells = (
        cell(0, 0, "Model", rows=2, role="column_header"),
        cell(0, 1, "English", columns=2, role="column_header"),
        cell(0, 3, "Chinese", columns=2, role="column_header"),
        *(cell(1, column, text, role="column_header") for column, text in enumerate(("P", "F1", "P", "F1"), start=1)),
        *(cell(2, column, text) for column, text in enumerate(("A<b>", "1", "2", "3", "4"))),
    )
    return Table(id="p/table-1", place=PLACE, order=1, cells=cells, label="Table 1", caption="C", header_rows=2)


@given(places)
def test_place_survives_text(place: Place) -> None:
    assert Place.parse(str(place)) == place


@pytest.mark.parametrize("text", ["", "abc", "p p.x [1 2 3 4]", "p p.1 [1 2 3]"])
def test_place_quotes_what_it_cannot_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a place"):
        Place.parse(text)


@given(boxes, boxes)
def test_union_holds_both(first: Box, second: Box) -> None:
    union = first.union(second)
    assert union == second.union(first)
    assert union.x0 <= min(first.x0, second.x0)
    assert union.y1 >= max(first.y1, second.y1)


def test_column_names_are_qualified_by_their_group() -> None:
    assert two_level_table().column_names() == ["Model", "English P", "English F1", "Chinese P", "Chinese F1"]


def test_a_sections_title_names_rows_and_no_column() -> None:
    cells = (
        cell(0, 0, "English", columns=2, role="section"),
        *(cell(1, column, text, role="column_header") for column, text in enumerate(("Model", "F1"))),
        *(cell(2, column, text) for column, text in enumerate(("A", "1"))),
        cell(3, 0, "Chinese", columns=2, role="section"),
        *(cell(4, column, text) for column, text in enumerate(("A", "2"))),
    )
    table = Table(id="p/table-1", place=PLACE, order=1, cells=cells, header_rows=2)
    assert table.column_names() == ["Model", "F1"]
    assert table.to_frame().to_numpy().tolist() == [["A", "1"], ["A", "2"]]


def test_a_table_without_cells_is_empty_in_every_form() -> None:
    table = Table(id="p/table-1", place=PLACE, order=1, cells=(), caption="C")
    assert table.grid() == []
    assert table.column_names() == []
    assert table.to_csv() == ""
    assert len(table.to_frame()) == 0


def test_table_as_csv_has_each_spanned_text_once() -> None:
    rows = list(csv.reader(io.StringIO(two_level_table().to_csv())))
    assert rows[0] == ["Model", "English", "", "Chinese", ""]
    assert rows[2] == ["A<b>", "1", "2", "3", "4"]


def test_table_as_html_escapes_text_and_keeps_spans() -> None:
    page = two_level_table().to_html()
    assert "A&lt;b&gt;" in page
    assert '<th colspan="2">English</th>' in page


def test_table_as_html_keeps_its_columns_where_a_position_has_no_cell() -> None:
    cells = (cell(0, 1, "English", columns=2), cell(1, 0, "A"), cell(1, 1, "1"), cell(1, 2, "2"))
    page = Table(id="p/table-1", place=PLACE, order=1, cells=cells, header_rows=1).to_html()
    assert '<tr><td></td><td colspan="2">English</td></tr><tr><td>A</td><td>1</td><td>2</td></tr>' in page


def test_table_as_frame() -> None:
    frame = two_level_table().to_frame()
    assert frame["Chinese F1"].tolist() == ["4"]


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        ("F1 Score", "F1-score", True),
        ("F1 SCORE", "f1 score", True),
        ("BERT+DSC", "BERT", False),
        ("ﬁne-tuning", "fine tuning", True),
        ("BERT-based Methods (Ours)", "BERT-based methods", True),
        ("Ours", "(ours)", False),
    ],
)
def test_entity_key_folds_spelling_only(first: str, second: str, meet: bool) -> None:
    assert (entity_key(first) == entity_key(second)) is meet


@given(st.text())
def test_entity_key_is_stable(name: str) -> None:
    assert entity_key(entity_key(name)) == entity_key(name)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.text(max_size=20), places), max_size=4))
def test_paper_survives_json(cells: list[tuple[str, Place]]) -> None:
    table = Table(
        id="x/table-1",
        place=PLACE,
        order=1,
        cells=tuple(Cell(row=row, column=0, text=text, place=place) for row, (text, place) in enumerate(cells)),
    )
    paper = Paper(id="x", title="T", authors=("A",), sha256="0", file="f", pages=(), sections=(), elements=(table,))
    assert from_json(Paper, to_json(paper)) == paper


def test_different_requests_have_different_keys() -> None:
    plain = ModelRequest(messages=(Message(role="user", text="q"),))
    pictured = ModelRequest(messages=(Message(role="user", text="q", images=(b"png",)),))
    keys = {plain.key("a"), plain.key("b"), pictured.key("a")}
    assert len(keys) == 3
    assert plain.key("a") == ModelRequest(messages=(Message(role="user", text="q"),)).key("a")


def test_usage_adds_up() -> None:
    total = sum((Usage(calls=1, prompt_tokens=2), Usage(cached=1, cost=0.5)), start=Usage())
    assert total == Usage(calls=1, cached=1, prompt_tokens=2, cost=0.5)


def test_content_hash_is_sha256() -> None:
    assert content_hash(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        ("large language models", "Large Language Model", True),
        ("GPUs", "GPU", True),
        ("dice losses", "Dice loss", True),
        ("analysis", "analysi", False),
        ("corpus", "corpu", False),
        ("language models", "language modeling", False),
    ],
)
def test_singular_key_folds_the_plural_of_the_last_word(first: str, second: str, meet: bool) -> None:
    assert (singular_key(first) == singular_key(second)) is meet


@given(st.text())
def test_singular_key_is_stable(name: str) -> None:
    assert singular_key(singular_key(name)) == singular_key(name)


def test_the_problems_of_a_page_are_one_line() -> None:
    paper = Paper(
        id="p",
        title="",
        authors=(),
        sha256="",
        file="",
        pages=(Page(number=1, width=600, height=800),),
        sections=(),
        elements=(),
    )
    problems = [PageProblem(page=1, reason=reason) for reason in ("it leans", "it is dark", "it leans")]
    assert paper.problem_lines(problems) == ["page 1: it leans; it is dark"]
    assert replace(paper, pages=()).problem_lines(problems[:2]) == ["it leans", "it is dark"]
