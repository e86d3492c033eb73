"""Tables are read a second time by the grid of a layout model; the likelier reading is kept."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pymupdf
import pytest

from ingest.document.pages import Document, HorizontalRule, PageContent, PageGrid
from ingest.pdf import PageReadError, PdfBackend
from ingest.pdf.captions import find_captions
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import lines_of
from ingest.pdf.tables.find import find_tables, with_second_readings
from ingest.pdf.tables.table_values import FoundTable
from paperscope_core.types import Box
from tests.ingest.pdf.words import sentence

WIDTH, HEIGHT = 300.0, 200.0
TOP, LEFT, RIGHT = 25.0, 0.0, 220.0
COLUMNS = (0.0, 31.5, 110.0, 171.5, 220.0)


def page(rows: Sequence[Sequence[tuple[float, str]]]) -> PageLayout:
    """A captioned table between rules, a rule below its first row."""
    bottom = TOP + 12 * len(rows) + 3
    ys = (TOP, TOP + 14, bottom)
    words = sentence("Table 1: Costs and scores.", 0, 15)
    words += [
        item for index, row in enumerate(rows) for x, text in row for item in sentence(text, x, TOP + 10 + 12 * index)
    ]
    lines = lines_of(words, gutters=())
    rules = [HorizontalRule(LEFT, RIGHT, y) for y in ys]
    content = PageContent(number=4, width=WIDTH, height=HEIGHT, chars=(), horizontal=rules)
    return PageLayout(
        content=content,
        words=tuple(word for line in lines for word in line.words),
        lines=tuple(lines),
        captions=tuple(find_captions(lines, gutter=None)),
    )


def close_page() -> PageLayout:
    """A page with two pairs of columns a word space apart, so that no rule parts them."""
    head = [(0.0, "Models Cost"), (150.0, "Runs F1")]
    return page([head, *([(0, f"System {n}.25"), (150, f"Full 9{n}.5")] for n in range(1, 7))])


def plain_page() -> PageLayout:
    return page(
        [[(0, "Model"), (80, "Cost"), (150, "Score")], *([(0, "S"), (80, "1.2"), (150, "9.5")] for _ in "1234")]
    )


def tables(layout: PageLayout) -> list[FoundTable]:
    return find_tables([layout])


def texts(table: FoundTable) -> list[str]:
    return [cell.text for cell in table.grid.cells if cell.row == 1]


class Seen:
    """Grids that are counted when they are asked for."""

    def __init__(self, *grids: PageGrid) -> None:
        self.asked: list[tuple[int, int]] = []
        self._grids = grids

    def __call__(self, number: int, *, turns: int = 0) -> Sequence[PageGrid]:
        self.asked.append((number, turns))
        return self._grids


def grid_at(*, rows: int, columns: Sequence[float] = COLUMNS) -> PageGrid:
    """A grid of lines of text as high as those of the page."""
    return PageGrid(
        box=Box(LEFT, TOP, RIGHT, TOP + 12 * rows + 3),
        xs=tuple(columns[1:-1]),
        ys=tuple(TOP + 13 + 12 * row for row in range(rows - 1)),
    )


def test_the_model_separates_columns_that_the_rules_can_not() -> None:
    layout = close_page()
    found = tables(layout)
    assert texts(found[0]) == ["System 1.25", "Full 91.5"]
    seen = Seen(grid_at(rows=7))
    [table] = with_second_readings(found, [layout], grids=seen)
    assert texts(table) == ["System", "1.25", "Full", "91.5"]
    assert table.grid.confidence > found[0].grid.confidence
    assert seen.asked == [(4, 0)]
    assert (table.captions, table.box) == (found[0].captions, found[0].box)


def test_the_model_is_asked_for_the_page_as_it_was_turned() -> None:
    layout = close_page()
    turned = replace(layout, content=replace(layout.content, turns=1))
    seen = Seen()
    found = tables(turned)
    assert with_second_readings(found, [turned], grids=seen) == found
    assert seen.asked == [(4, 1)]


def test_agreeing_readings_are_as_trusted_as_before() -> None:
    layout = plain_page()
    found = tables(layout)
    grid = grid_at(rows=5, columns=(0, 60, 120, 220))
    [table] = with_second_readings(found, [layout], grids=Seen(grid))
    assert (texts(table), table.grid.confidence) == (texts(found[0]), found[0].grid.confidence)


def test_a_caption_without_a_table_has_the_one_of_the_model() -> None:
    layout = plain_page()
    bare = replace(layout, content=replace(layout.content, horizontal=()))
    [table] = with_second_readings([], [bare], grids=Seen(grid_at(rows=5, columns=(0, 60, 120, 220))))
    assert table.caption.label == "Table 1"
    assert texts(table) == ["S", "1.2", "9.5"]


def test_first_reading_is_kept_if_the_library_fails() -> None:
    def fails(number: int, *, turns: int = 0) -> Sequence[PageGrid]:
        raise PageReadError("no tables today")

    layout = close_page()
    found = tables(layout)
    assert with_second_readings(found, [layout], grids=fails) == found


def grid_pdf(turn: int = 0) -> bytes:
    document = pymupdf.open()
    sheet = document.new_page(width=500, height=400)
    sheet.insert_text((60, 50), "Table 1: Results of all systems on both sets.", fontsize=10)
    for row in range(8):
        texts = ["Model", "Cost", "Score", "F1"] if row == 0 else [f"System{row}", *(f"{row}.{n}5" for n in range(3))]
        for column, text in enumerate(texts):
            sheet.insert_text((64 + 90 * column, 80 + 18 * row), text, fontsize=10)
    for row in range(9):
        sheet.draw_line((60, 67 + 18 * row), (420, 67 + 18 * row))
    for column in range(5):
        sheet.draw_line((60 + 90 * column, 67), (60 + 90 * column, 211))
    for line in range(12):
        sheet.insert_text((60, 240 + 12 * line), "The systems are compared on both sets with the same budget.")
    sheet.set_rotation(turn)
    return bytes(document.tobytes())


TABLE = Box(60, 67, 420, 211)


@contextmanager
def opened(data: bytes) -> Iterator[Document]:
    with PdfBackend().open(data, name="grid.pdf", password=None) as document:
        yield document


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0, 90])
def test_pymupdf_finds_the_grid_of_a_rotated_table(turn: int) -> None:
    with opened(grid_pdf(turn)) as document:
        [grid] = document.grids(1, turns=turn // 90)
        assert (len(grid.xs), len(grid.ys)) == (3, 7)
        assert TABLE.grown(5, 5).y0 < grid.box.y0 < grid.box.y1 < TABLE.grown(5, 5).y1


def test_output_and_errors_of_pymupdf_tables_are_caught(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the analyser fails")

    with opened(grid_pdf()) as document:
        monkeypatch.setattr("pymupdf._get_layout", broken)
        with pytest.raises(PageReadError, match="the analyser fails"):
            document.grids(1)
    assert capfd.readouterr() == ("", "")
