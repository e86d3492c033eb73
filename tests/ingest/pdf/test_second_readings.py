"""Doubtful tables are read again by the cells that the PDF library finds; the more trusted grid is kept."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pymupdf
import pytest

from ingest.document.geometry import turned_box
from ingest.document.pages import Document, HorizontalRule, PageContent, VerticalRule
from ingest.pdf import PageReadError, PdfBackend, PdfParser
from ingest.pdf.captions import find_captions
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import lines_of
from ingest.pdf.tables.find import find_tables, with_second_readings
from ingest.pdf.tables.table_values import FoundTable
from paperscope_core.types import Box, PaperFile, Table
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


def boxes(columns: Sequence[float] = COLUMNS) -> list[Box]:
    return [
        Box(left, TOP + 12 * row, right, TOP + 12 * (row + 1)) for row in range(7) for left, right in pairwise(columns)
    ]


def texts(table: FoundTable) -> list[str]:
    return [cell.text for cell in table.grid.cells if cell.row == 1]


class Seen:
    """Cells that are counted when they are asked for."""

    def __init__(self, cells: Sequence[Box]) -> None:
        self.asked: list[tuple[int, Box]] = []
        self._cells = cells

    def __call__(self, number: int, box: Box) -> Sequence[Box]:
        self.asked.append((number, box))
        return self._cells


def test_cells_separate_columns_that_the_rules_can_not() -> None:
    layout = close_page()
    found = tables(layout)
    assert texts(found[0]) == ["System 1.25", "Full 91.5"]
    cells = Seen(boxes())
    [table] = with_second_readings(found, [layout], cells=cells)
    assert texts(table) == ["System", "1.25", "Full", "91.5"]
    assert table.grid.confidence > 0.9
    assert found[0].grid.confidence < 0.5
    assert cells.asked == [(4, found[0].box)]
    assert (table.captions, table.parts) == (found[0].captions, found[0].parts)


def test_cells_of_a_page_that_was_turned_for_reading() -> None:
    layout = close_page()
    turned = replace(layout, content=replace(layout.content, turns=1))
    cells = Seen([turned_box(box, WIDTH, HEIGHT, turns=-1) for box in boxes()])
    [table] = with_second_readings(tables(turned), [turned], cells=cells)
    assert texts(table) == ["System", "1.25", "Full", "91.5"]
    assert cells.asked[0][1] == turned_box(table.box, WIDTH, HEIGHT, turns=-1)


@pytest.mark.parametrize("columns", [(0.0, 110.0, 220.0), (0.0, 220.0), (90.0, 100.0, 110.0), ()])
def test_second_reading_is_kept_only_if_it_is_more_trusted(columns: Sequence[float]) -> None:
    layout = close_page()
    found = tables(layout)
    assert with_second_readings(found, [layout], cells=Seen(boxes(columns))) == found


def test_trusted_table_is_read_once() -> None:
    layout = plain_page()
    cells = Seen(boxes())
    found = tables(layout)
    assert with_second_readings(found, [layout], cells=cells) == found
    assert not cells.asked


def test_first_reading_is_kept_if_the_library_fails_or_is_not_asked() -> None:
    def fails(number: int, box: Box) -> Sequence[Box]:
        raise PageReadError("no tables today")

    layout = close_page()
    found = tables(layout)
    assert with_second_readings(found, [layout], cells=fails) == found
    assert with_second_readings(found, [layout], cells=None) == found


def test_second_readings_are_bounded_by_crossings_and_pages() -> None:
    layout, cells = close_page(), Seen([])
    grating = [VerticalRule(150 + n / 50, 0, HEIGHT) for n in range(900)]
    with_second_readings(
        tables(layout), [replace(layout, content=replace(layout.content, vertical=grating))], cells=cells
    )
    assert not cells.asked
    with_second_readings([replace(table) for table in tables(layout) * 500], [layout], cells=cells)
    assert len(cells.asked) == 1


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
def test_pymupdf_finds_the_cells_of_a_rotated_table(turn: int) -> None:
    with opened(grid_pdf(turn)) as document:
        area = turned_box(TABLE, 500, 400, turns=-turn // 90)
        cells = [turned_box(box, *_size(document), turns=turn // 90).rounded() for box in document.cells(1, area)]
        assert {box.x0 for box in cells} == {60, 150, 240, 330}
        assert len(cells) == 32
        below = turned_box(Box(60, 230, 420, 390), 500, 400, turns=-turn // 90)
        assert not document.cells(1, below)


def _size(document: Document) -> tuple[float, float]:
    content = document.read(1)
    return content.width, content.height


def test_output_and_errors_of_pymupdf_tables_are_caught(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the analyser fails")

    with opened(grid_pdf()) as document:
        monkeypatch.setattr("pymupdf._get_layout", broken)
        assert not document.cells(1, TABLE)
        monkeypatch.setattr("pymupdf.Page.find_tables", broken)
        with pytest.raises(PageReadError, match="the analyser fails"):
            document.cells(1, TABLE)
    assert capfd.readouterr() == ("", "")


class _Sees:
    """A backend whose documents see the cells of one table, or fail to."""

    def __init__(self, cells: Callable[[int, Box], Sequence[Box]]) -> None:
        self._cells = cells

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator[Document]:
        with PdfBackend().open(data, name=name, password=password) as document:
            setattr(document, "cells", self._cells)  # noqa: B010 -- the protocol's methods can't be assigned
            yield document


def close_pdf() -> bytes:
    """The close page as a file."""
    document = pymupdf.open()
    sheet = document.new_page(width=400, height=400)
    sheet.insert_text((60, 50), "Table 1: Costs and scores of all systems.", fontsize=10)
    for row in range(8):
        cells = ("Models Cost", "Runs F1") if row == 0 else (f"System {row}.25", f"Full 9{row}.5")
        for x, text in zip((60, 220), cells, strict=True):
            sheet.insert_text((x, 80 + 14 * row), text)
    for y in (70, 84, 184):
        sheet.draw_line((60, y), (300, y))
    return bytes(document.tobytes())


def parsed(file: Path, *, cells: Callable[[int, Box], Sequence[Box]]) -> list[str]:
    """The first row of the body of the only table."""
    paper = PdfParser(dpi=36, backend=_Sees(cells)).parse(PaperFile(file)).paper
    [table] = [element for element in paper.elements if isinstance(element, Table)]
    return table.grid()[1]


def test_cells_of_the_library_divide_a_doubtful_table(tmp_path: Path) -> None:
    def fails(number: int, box: Box) -> Sequence[Box]:
        raise PageReadError("no tables today")

    file = tmp_path / "close.pdf"
    file.write_bytes(close_pdf())
    cells = Seen([Box(left, 70, right, 184) for left, right in ((60, 99), (99, 200), (200, 239.5), (239.5, 300))])
    assert parsed(file, cells=cells) == ["System", "1.25", "Full", "91.5"]
    assert parsed(file, cells=fails) == ["System 1.25", "Full 91.5"]
