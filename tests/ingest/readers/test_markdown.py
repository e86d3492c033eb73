"""Tables in Markdown: where they begin and end among other blocks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.readers.element_collector import Source, SourceLines
from ingest.readers.embedded_images import EmbeddedImages
from ingest.readers.markdown import read_markdown
from paperscope_core.types import Element, Passage, Table

TABLE = "| Metric | Value |\n|---|---|\n| F1 | 0.91 |"
Read = Callable[[str], list[Element]]
GRID = [["Metric", "Value"], ["F1", "0.91"]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str) -> list[Element]:
        source = Source(
            name="report.md", data=text.encode(), lines=SourceLines(paper="p"), images=EmbeddedImages(tmp_path)
        )
        return list(read_markdown(source).elements)

    return read


@pytest.mark.parametrize(
    "before",
    [
        "A line of text",
        "- a list item",
        "- a list item\ncontinued without indent\nand again",
        "1. a step\n   - a step within\n   with a line",
        "> a quotation",
        "[^1]: a note",
        "**A line in bold**",
        "Scores | of | a model",
    ],
)
def test_a_table_needs_no_blank_line_before_it(read: Read, before: str) -> None:
    (table,) = (one for one in read(f"{before}\n{TABLE}") if isinstance(one, Table))
    assert table.grid() == GRID
    assert table.place.box.y0 == before.count("\n") + 2


def test_each_of_several_tables_in_a_row_is_one(read: Read) -> None:
    text = f"- on the test set\nby class\n{TABLE}\nby scenario\n{TABLE}\nThe end.\n"
    elements = read(text)
    assert [one.grid() for one in elements if isinstance(one, Table)] == [GRID, GRID]
    assert [one.text for one in elements if isinstance(one, Passage)][1:] == ["by scenario", "The end."]


def test_a_table_in_a_list_item_is_a_table(read: Read) -> None:
    indented = TABLE.replace("\n", "\n  ")
    for text in (f"- an item\n\n  {indented}", f"- an item\n  {indented}"):
        assert [one.grid() for one in read(text) if isinstance(one, Table)] == [GRID]


def test_an_escaped_pipe_is_part_of_a_cell(read: Read) -> None:
    (table,) = (one for one in read("| Event | Share |\n|---|---|\n| P(a \\| b) | 0.5 |") if isinstance(one, Table))
    assert table.grid()[1] == ["P(a | b)", "0.5"]


@pytest.mark.parametrize("text", ["- a | b\n--\n", "- a | b | c\n|---|---|\n| 1 | 2 |", "- a | b\nc | d\n"])
def test_no_table_without_a_delimiter_row_of_as_many_cells(read: Read, text: str) -> None:
    assert not any(isinstance(one, Table) for one in read(text))
