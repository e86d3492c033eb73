"""Words to lines, without a PDF library."""

from ingest.pdf.lines import lines_of
from tests.ingest.pdf.words import word


def test_a_superscript_joins_its_line_legibly() -> None:
    lines = lines_of([word("tasks", 0, 100), word("2", 25, 96, size=6), word("show", 31, 100)], gutters=())
    assert [line.text for line in lines] == ["tasks² show"]


def test_lines_are_cut_at_the_gutter() -> None:
    words = [word("left", 0, 10), word("side", 23, 10), word("right", 49.5, 10)]
    assert [line.text for line in lines_of(words, gutters=(46,))] == ["left side", "right"]
    assert [line.text for line in lines_of(words, gutters=())] == ["left side right"]
