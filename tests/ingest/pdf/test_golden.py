"""A small generated paper: two columns, a grouped table, an equation, a figure, references."""

import hashlib
from pathlib import Path
from typing import TypeVar

import pymupdf
import pytest

from ingest.pdf import PdfParser
from paperscope_core.types import Equation, Figure, PaperFile, ParsedPaper, Passage, Reference, Table, content_hash

T = TypeVar("T")
LEFT, RIGHT, PITCH = 60.0, 315.0, 12.0
WIDTH = 225.0
SENTENCE = "The quick brown fox jumps over the lazy dog and never comes back to the yard again today."


class Sheet:
    """A page that is written line by line."""

    def __init__(self, document: pymupdf.Document) -> None:
        self.page = document.new_page(width=600, height=800)

    def put(self, x: float, y: float, text: str, *, size: float = 10, font: str = "tiro") -> None:
        self.page.insert_text((x, y), text, fontsize=size, fontname=font)

    def column(self, x: float, y: float, text: str, *, indent: float = 10) -> float:
        """Set justified-looking text of the column's width; return the y below it."""
        line, room = "", WIDTH - indent
        first = True
        for part in text.split():
            longer = f"{line} {part}".strip()
            if pymupdf.get_text_length(longer, fontname="tiro", fontsize=10) > room:
                self.put(x + (indent if first else 0), y, line)
                y, line, room, first = y + PITCH, part, WIDTH, False
            else:
                line = longer
        self.put(x + (indent if first else 0), y, line)
        return y + PITCH

    def rule(self, x0: float, x1: float, y: float) -> None:
        self.page.draw_line((x0, y), (x1, y), width=0.6)


def make_paper() -> bytes:
    document = pymupdf.open()
    sheet = Sheet(document)
    sheet.put(150, 70, "A Small Paper about Foxes", size=18, font="tibo")
    sheet.put(200, 92, "Ada Lovelace and Alan Turing", size=12)
    sheet.put(LEFT, 130, "Abstract", size=12, font="tibo")
    sheet.column(LEFT, 146, f"{SENTENCE} {SENTENCE}")
    sheet.put(LEFT, 230, "1 Introduction", size=12, font="tibo")
    y = sheet.column(LEFT, 246, f"{SENTENCE} We cite Doe et al. (2019) and see Table 1 and Figure 1. {SENTENCE}")
    y = sheet.column(LEFT, y, f"A second paragraph follows Eq. (1). {SENTENCE} {SENTENCE} {SENTENCE}")
    sheet.put(LEFT + 60, y + 14, "E = m + c", font="cour")
    sheet.put(LEFT + WIDTH - 14, y + 14, "(1)")
    y = sheet.column(LEFT, y + 40, " ".join([SENTENCE] * 4))
    sheet.column(LEFT, y, " ".join([SENTENCE] * 3) + " It stops in the mid-")
    sheet.column(RIGHT, 130, "dle of a word and goes on in the right column without an indent.", indent=0)
    _table(sheet, y=190)
    sheet.column(RIGHT, 320, " ".join([SENTENCE] * 4))
    sheet.page.draw_rect(pymupdf.Rect(RIGHT + 20, 440, RIGHT + 200, 540), color=(0, 0, 1))
    sheet.page.draw_line((RIGHT + 30, 530), (RIGHT + 190, 450), color=(1, 0, 0))
    sheet.put(RIGHT + 90, 500, "axis", size=7)
    sheet.put(RIGHT, 560, "Figure 1: A fox that jumps.")
    sheet.put(RIGHT, 600, "References", size=12, font="tibo")
    sheet.put(RIGHT, 616, "Jane Doe, Max Roe, and Ann Poe. 2019. Foxes at")
    sheet.put(RIGHT + 10, 628, "large. Journal of Yards.")
    sheet.put(RIGHT, 644, "John Smith. 2001. Dogs that lie about in the yard")
    sheet.put(RIGHT + 10, 656, "and sleep. Journal of Yards.")
    sheet.put(298, 780, "1", size=9)
    return bytes(document.tobytes())


def _table(sheet: Sheet, *, y: float) -> None:
    rows = [
        [(80, "First set"), (160, "Second set")],
        [(0, "Model"), (75, "P"), (115, "R"), (155, "P"), (195, "R")],
        [(0, "Fox"), (70, "91.10"), (110, "90.20"), (150, "89.30"), (190, "88.40")],
        [(0, "Fox+Dog"), (70, "92.10"), (110, "91.20"), (150, "90.30"), (190, "89.40")],
    ]
    for index, row in enumerate(rows):
        for x, text in row:
            sheet.put(RIGHT + x, y + 12 * index, text, font="tibo" if text == "92.10" else "tiro")
    sheet.rule(RIGHT - 4, RIGHT + 220, y - 10)
    sheet.rule(RIGHT + 66, RIGHT + 140, y + 3.5)
    sheet.rule(RIGHT + 146, RIGHT + 220, y + 3.5)
    sheet.rule(RIGHT - 4, RIGHT + 220, y + 16)
    sheet.rule(RIGHT - 4, RIGHT + 220, y + 41)
    sheet.put(RIGHT, y + 58, "Table 1: Scores of two models.")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("golden") / "fox.pdf"
    file.write_bytes(make_paper())
    return file


@pytest.fixture(scope="module")
def parsed(file: Path) -> ParsedPaper:
    return PdfParser().parse(PaperFile(file))


def passages(parsed: ParsedPaper, role: str) -> list[str]:
    return [item.text for item in parsed.paper.elements if isinstance(item, Passage) and item.role == role]


def only(parsed: ParsedPaper, kind: type[T]) -> T:
    [item] = [item for item in parsed.paper.elements if isinstance(item, kind)]
    return item


def test_the_head(parsed: ParsedPaper) -> None:
    paper = parsed.paper
    assert paper.title == "A Small Paper about Foxes"
    assert paper.authors == ("Ada Lovelace", "Alan Turing")
    assert paper.file == "fox.pdf"
    assert paper.id == paper.sha256[:12]
    assert [section.title for section in paper.sections] == ["Abstract", "Introduction", "References"]
    assert paper.sections[1].number == "1"


def test_the_text(parsed: ParsedPaper) -> None:
    assert passages(parsed, "abstract") == [f"{SENTENCE} {SENTENCE}"]
    assert passages(parsed, "furniture") == ["1"]
    over = [item for item in parsed.paper.elements if isinstance(item, Passage) and item.more_places]
    assert len(over) == 1
    assert over[0].text.endswith("in the middle of a word and goes on in the right column without an indent.")
    assert over[0].place.box.x1 < 300 < over[0].more_places[0].box.x0


def test_the_table(parsed: ParsedPaper) -> None:
    table = only(parsed, Table)
    assert (table.label, table.caption) == ("Table 1", "Scores of two models.")
    assert table.header_rows == 2
    assert table.grid() == [
        ["", "First set", "", "Second set", ""],
        ["Model", "P", "R", "P", "R"],
        ["Fox", "91.10", "90.20", "89.30", "88.40"],
        ["Fox+Dog", "92.10", "91.20", "90.30", "89.40"],
    ]
    assert table.column_names() == ["Model", "First set P", "First set R", "Second set P", "Second set R"]
    assert [cell.text for cell in table.cells if cell.bold] == ["92.10"]
    assert table.confidence == 1.0
    value = next(cell for cell in table.cells if cell.text == "89.40")
    assert value.role == "value"
    assert value.place.box.x0 == pytest.approx(RIGHT + 190, abs=1)


def test_the_figure_and_the_equation(parsed: ParsedPaper) -> None:
    figure = only(parsed, Figure)
    assert (figure.label, figure.caption, figure.text) == ("Figure 1", "A fox that jumps.", "axis")
    assert figure.place.box == pytest.approx((RIGHT + 20, 440, RIGHT + 200, 540), abs=1)
    equation = only(parsed, Equation)
    assert (equation.label, equation.text) == ("Equation 1", "E = m + c")


def test_the_references(parsed: ParsedPaper) -> None:
    entries = [item for item in parsed.paper.elements if isinstance(item, Reference)]
    assert [(entry.label, entry.year) for entry in entries] == [("Doe et al., 2019", 2019), ("Smith, 2001", 2001)]


def test_the_links(parsed: ParsedPaper) -> None:
    by_id = {item.id: item for item in parsed.paper.elements}
    named = {(link.text, by_id[link.target].kind) for link in parsed.paper.links}
    assert named == {
        ("Table 1", "table"),
        ("Figure 1", "figure"),
        ("Eq. (1)", "equation"),
        ("Doe et al. (2019)", "reference"),
    }


def test_the_crops(parsed: ParsedPaper) -> None:
    named = {item.crop for item in parsed.paper.elements if isinstance(item, Table | Figure | Equation)}
    assert named == set(parsed.crops)
    for name, data in parsed.crops.items():
        assert content_hash(data) == name
        assert data.startswith(b"\x89PNG")
    table = only(parsed, Table)
    assert table.crop
    picture = pymupdf.Pixmap(parsed.crops[table.crop])
    assert picture.width == pytest.approx((table.place.box.x1 - table.place.box.x0 + 8) * 200 / 72, abs=3)


def test_ids_orders_and_places(parsed: ParsedPaper) -> None:
    elements = parsed.paper.elements
    assert [item.order for item in elements] == list(range(len(elements)))
    assert len({item.id for item in elements}) == len(elements)
    assert only(parsed, Table).id == f"{parsed.paper.id}/table-1"
    known = {section.id for section in parsed.paper.sections}
    assert all(item.section in known | {""} for item in elements)
    for item in elements:
        assert item.place.box == item.place.box.rounded()
        assert 0 <= item.place.box.x0 <= item.place.box.x1 <= 600


def test_the_same_file_gives_the_same_paper(file: Path, parsed: ParsedPaper) -> None:
    assert parsed.paper.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert PdfParser().parse(PaperFile(file)) == parsed
