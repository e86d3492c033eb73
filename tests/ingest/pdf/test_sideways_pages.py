"""Pages of sideways text are turned for reading; places are as seen, crops are upright."""

import io
from itertools import pairwise
from pathlib import Path

import pymupdf
import pytest
import typst
from PIL import Image

from ingest.pdf import PdfParser
from paperscope_core.types import Box, Paper, PaperFile, ParsedPaper, Passage, Table

TABLE = """
#figure(kind: table, supplement: [Table], caption: [Results of four systems on two sets of reports.],
  table(columns: 5, stroke: none,
    table.hline(), [System], [Precision], [Recall], [F1], [Seconds], table.hline(),
    [Alpha], [91.2], [88.1], [89.6], [12], [Beta], [90.4], [87.3], [88.8], [14],
    [Gamma], [85.9], [86.0], [85.9], [3], [Delta], [79.8], [90.2], [84.7], [1], table.hline()))
"""
SENTENCES = [f"Sentence number {number} of the running text tells what was done." for number in range(60)]
PROSE = "= Results\n" + " ".join(SENTENCES)


def parsed(source: str, folder: Path, *, backend: str = "pymupdf") -> ParsedPaper:
    file = folder / "paper.pdf"
    head = '#set page(paper: "a4", margin: 2cm)\n#set figure.caption(position: top)\n#set text(size: 10pt)\n'
    file.write_bytes(typst.compile((head + source).encode(), ignore_system_fonts=True))
    return PdfParser(dpi=72).parse(PaperFile(file))


def only_table(paper: Paper) -> Table:
    [table] = [element for element in paper.elements if isinstance(element, Table)]
    return table


def inked(picture: Image.Image) -> tuple[int, int, int, int]:
    box = picture.convert("L").point(lambda value: 255 if value < 128 else 0).getbbox()
    assert box is not None
    return box


@pytest.mark.parametrize("angle", [-90, 90, 180])
def test_a_sideways_table_has_the_cells_of_an_upright_one(angle: int, tmp_path: Path) -> None:
    upright = parsed(PROSE + "\n#pagebreak()\n" + TABLE, tmp_path)
    sideways = parsed(f"{PROSE}\n#pagebreak()\n#rotate({angle}deg, reflow: true)[{TABLE}]", tmp_path)
    expected, table = only_table(upright.paper), only_table(sideways.paper)
    assert table.grid() == expected.grid()
    assert (table.label, table.caption) == (expected.label, expected.caption)
    assert table.shape == (5, 5)
    assert [(page.width, page.height) for page in sideways.paper.pages] == [(595.3, 841.9)] * 2


@pytest.mark.parametrize(("angle", "down"), [(90, True), (-90, False)])
def test_places_are_as_seen_and_the_crop_is_upright(angle: int, down: bool, tmp_path: Path) -> None:
    result = parsed(f"{PROSE}\n#pagebreak()\n#rotate({angle}deg, reflow: true)[{TABLE}]", tmp_path)
    table = only_table(result.paper)
    first_row = sorted((cell for cell in table.cells if cell.row == 0), key=lambda cell: cell.column)
    tops = [cell.place.box.y0 for cell in first_row]
    assert all((right > left) == down for left, right in pairwise(tops))
    page = Image.open(io.BytesIO(pymupdf.open(tmp_path / "paper.pdf")[1].get_pixmap().tobytes("png")))
    cell = next(cell for cell in table.cells if cell.text == "Gamma")
    printed = page.crop(grown(cell.place.box))
    assert inked(printed)[3] - inked(printed)[1] > inked(printed)[2] - inked(printed)[0]
    assert table.crop is not None
    crop = Image.open(io.BytesIO(result.crops[table.crop]))
    box = table.place.box
    assert box.y1 - box.y0 > box.x1 - box.x0
    assert crop.width > crop.height


def grown(box: Box) -> Box:
    return Box(box.x0 - 2, box.y0 - 2, box.x1 + 2, box.y1 + 2)


def test_page_of_prose_with_a_sideways_table_is_read_both_ways(tmp_path: Path) -> None:
    columns = (
        f"#grid(columns: (1fr, 1fr), gutter: 1cm, [{' '.join(SENTENCES[:40])}], rotate(90deg, reflow: true)[{TABLE}])"
    )
    paper = parsed(f"{PROSE}\n#pagebreak()\n{columns}", tmp_path).paper
    assert only_table(paper).shape == (5, 5)
    assert [page.number for page in paper.pages] == [1, 2]
    prose = [element.text for element in paper.elements if isinstance(element, Passage) and element.place.page == 2]
    assert any("Sentence number 30 of the running text" in text for text in prose)


def test_a_sideways_stamp_is_no_part_of_the_text(tmp_path: Path) -> None:
    stamp = "#place(left + horizon, dx: -1.8cm, rotate(-90deg, reflow: true)[arXiv:2101.00001v1 [cs.CL] 1 Jan 2021])"
    paper = parsed(f"{stamp}\n{PROSE}", tmp_path).paper
    stamped = [element for element in paper.elements if isinstance(element, Passage) and "arXiv" in element.text]
    assert [element.role for element in stamped] == ["furniture"]
    assert any("Sentence number 30" in element.text for element in paper.elements if isinstance(element, Passage))


def test_page_of_a_few_sideways_words_has_a_problem(tmp_path: Path) -> None:
    paper = parsed(f"{PROSE}\n#pagebreak()\n#rotate(90deg, reflow: true)[Stamped at the margin]", tmp_path).paper
    assert [(problem.page, problem.reason) for problem in paper.problems] == [
        (2, "its text runs sideways and was not read")
    ]
