"""Text recognition: which pages get it, what is said of it, and that recognised words read like printed ones."""

import io
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image, ImageDraw

from ingest.document.pages import Char
from ingest.ocr import OcrBackend, Recognition, RecognizedWord, recognition_for
from ingest.ocr.backend import needs_recognition
from ingest.ocr.page import find_marks, recognize_page, respace_line
from ingest.ocr.raster import binarize, estimate_skew, find_pictures, find_rules, measure_lines, snap_sizes
from ingest.pdf import PageContent, PageReadError, PdfParser
from ingest.pdf.mupdf import MuPdfBackend
from paperscope_core.cancellation import handle_time_requests
from paperscope_core.types import Box, Paper, PaperFile, Passage, Table
from tests.ingest.ocr.fake_recognizer import FakeRecognizer

DPI = 200
SCALE = DPI / 72


@dataclass(frozen=True)
class Line:
    """A line of text to print: baseline and start in points."""

    x: float
    y: float
    text: str
    size: float = 11
    font: str = "tiro"


LINES = (
    Line(72, 100, "Foxes jump over lazy dogs every day and never come back."),
    Line(72, 114, "A second line of text follows the first one on this page."),
    Line(72, 160, "1 Results", 11, "tibo"),
    Line(72, 190, "Then a paragraph tells what the table below it holds for us."),
)


@pytest.fixture
def small_raster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognises pages at half the resolution, which takes a quarter of the time."""
    monkeypatch.setattr("ingest.ocr.backend._LONGEST_SIDE", 1170)


def page_of(lines: Sequence[Line] = LINES, *, rules: Sequence[tuple[float, float, float]] = ()) -> pymupdf.Document:
    document = pymupdf.open()
    page = document.new_page(width=500, height=400)
    for line in lines:
        page.insert_text((line.x, line.y), line.text, fontsize=line.size, fontname=line.font)
    for x0, x1, y in rules:
        page.draw_line((x0, y), (x1, y), width=0.7)
    return document


def picture_of(document: pymupdf.Document, *, angle: float = 0.0) -> Image.Image:
    shown = document[0].get_pixmap(dpi=DPI)
    picture = Image.frombytes("RGB", (shown.width, shown.height), shown.samples)
    return picture.rotate(angle, resample=Image.Resampling.BICUBIC, fillcolor="white") if angle else picture


def words_in(lines: Sequence[Line]) -> list[RecognizedWord]:
    """What a good recogniser gives: a loose box for each line, cut in words by their share of its letters."""
    words: list[RecognizedWord] = []
    for number, line in enumerate(lines):
        start, size = line.x, line.size
        for text in line.text.split():
            width = pymupdf.get_text_length(text, fontname=line.font, fontsize=size)
            box = Box(start - 1, line.y - 0.95 * size, start + width + 1, line.y + 0.42 * size)
            words.append(
                RecognizedWord(text=text, box=Box(*(value * SCALE for value in box)), line=number, confidence=0.95)
            )
            start += pymupdf.get_text_length(f"{text} ", fontname=line.font, fontsize=size)
    return words


def scan_of(document: pymupdf.Document, *, angle: float = 0.0, stamp: str = "") -> bytes:
    out = io.BytesIO()
    picture_of(document, angle=angle).save(out, format="PNG")
    scan = pymupdf.open()
    page = scan.new_page(width=500, height=400)
    page.insert_image(page.rect, stream=out.getvalue())
    if stamp:
        page.insert_text((10, 390), stamp, fontsize=6)
    return bytes(scan.tobytes())


def parse(data: bytes, tmp_path: Path, recognition: Recognition) -> Paper:
    file = tmp_path / "scan.pdf"
    file.write_bytes(data)
    return PdfParser(dpi=72, backend=OcrBackend(MuPdfBackend(), recognition)).parse(PaperFile(file)).paper


class AtHand(FakeRecognizer):
    """Knows the words of a page at 200 dpi, and scales them to the picture that it is given."""

    def recognize(self, picture: Image.Image) -> Sequence[RecognizedWord]:
        words = super().recognize(picture)
        by = picture.width / (500 * SCALE)
        return [
            RecognizedWord(
                text=word.text, box=Box(*(by * value for value in word.box)), line=word.line, confidence=word.confidence
            )
            for word in words
        ]


@pytest.mark.usefixtures("small_raster")
def test_a_scanned_page_is_read_by_the_rules_and_says_so(tmp_path: Path) -> None:
    recognizer = AtHand(words_in(LINES))
    paper = parse(scan_of(page_of()), tmp_path, Recognition(recognizer=recognizer))
    texts = [element.text for element in paper.elements if isinstance(element, Passage)]
    assert texts == [f"{LINES[0].text} {LINES[1].text}", "1 Results", LINES[3].text]
    assert [section.title for section in paper.sections] == ["Results"]
    assert [problem.reason for problem in paper.problems] == [
        "the page has no text layer; its text was recognised (OCR), mean confidence 0.95"
    ]


@pytest.mark.usefixtures("small_raster")
def test_recognition_asks_for_time_and_each_page_of_crops_is_a_step(tmp_path: Path) -> None:
    asked: list[float] = []
    table = [Line(72, 60, "Table 1: Two"), *(Line(72, y, "a 1 2 3") for y in (90, 104, 118))]
    data = scan_of(page_of(table, rules=[(72, 200, y) for y in (76, 93, 124)]))
    with handle_time_requests(asked.append):
        paper = parse(data, tmp_path, Recognition(recognizer=AtHand(words_in(table))))
    assert any(isinstance(element, Table) for element in paper.elements)
    # The layout analysis, which the first table loads, may ask in between.
    assert (asked[0], asked[-1]) == (10.0, 1.0)
    assert 10.0 not in asked[1:]


def test_pages_with_text_are_left_alone(tmp_path: Path) -> None:
    recognizer = AtHand(words_in(LINES))
    paper = parse(bytes(page_of().tobytes()), tmp_path, Recognition(recognizer=recognizer))
    assert (recognizer.seen, paper.problems) == ([], ())


@pytest.mark.usefixtures("small_raster")
def test_a_scan_with_a_stamp_is_recognised(tmp_path: Path) -> None:
    recognizer = AtHand(words_in(LINES))
    paper = parse(scan_of(page_of(), stamp="Downloaded from somewhere"), tmp_path, Recognition(recognizer=recognizer))
    assert "text layer is not usable; its text was recognised" in paper.problems[0].reason


def test_without_a_recogniser_a_scan_names_the_remedy(tmp_path: Path) -> None:
    paper = parse(scan_of(page_of()), tmp_path, Recognition(remedy="install it"))
    assert [problem.reason for problem in paper.problems] == ["the page has no text layer; install it"]


class Failing(FakeRecognizer):
    def recognize(self, picture: Image.Image) -> Sequence[RecognizedWord]:
        raise PageReadError("out of memory")


@pytest.mark.usefixtures("small_raster")
@pytest.mark.parametrize(
    ("recognizer", "said"), [(Failing(), "could not be recognised: out of memory"), (FakeRecognizer(), "found none")]
)
def test_a_page_that_can_not_be_recognised_says_why(tmp_path: Path, recognizer: FakeRecognizer, said: str) -> None:
    paper = parse(scan_of(page_of()), tmp_path, Recognition(recognizer=recognizer))
    assert [said in problem.reason for problem in paper.problems] == [True]


def test_off_and_not_installed_name_different_remedies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "parser.ocr" in recognition_for("off").remedy
    monkeypatch.setattr("ingest.ocr.recognizer.find_spec", lambda _name: None)
    assert 'pip install "paperscope[ocr]"' in recognition_for("auto").remedy


def content(
    *, letters: str = "", baseline: float = 20.0, images: Sequence[Box] = (), drawings: Sequence[Box] = ()
) -> PageContent:
    chars = [Char(letter, 10.0 + at, 11.0 + at, baseline, 10.0, "f", False, False) for at, letter in enumerate(letters)]
    return PageContent(number=1, width=100, height=100, chars=chars, images=images, drawings=drawings)


WHOLE = Box(0, 0, 100, 100)


@pytest.mark.parametrize(
    ("page", "needs"),
    [
        (content(), False),
        (content(images=[WHOLE]), True),
        (content(drawings=[Box(1, 1, 5, 5)]), True),
        (content(letters="Fox"), False),
        (content(letters="Fox", images=[WHOLE]), True),
        (content(letters="Fox" * 30, images=[WHOLE]), False),
        (content(letters="Fox" * 30, baseline=95.0, images=[WHOLE]), True),
        (content(letters="Fox", images=[Box(0, 0, 100, 60)]), False),
        (content(letters="\ufffd\ue001\ue002ab"), True),
        (content(letters="质量守恒定律"), False),
    ],
)
def test_which_pages_are_recognised(page: PageContent, needs: bool) -> None:
    assert needs_recognition(page) is needs


def test_baselines_sizes_and_weights_are_measured_in_the_ink() -> None:
    lines = (
        Line(72, 100, "Foxes jump over dogs", 10),
        Line(72, 140, "A Larger Title", 16),
        Line(72, 180, "Bold", 10, "tibo"),
    )
    measured = measure_lines(words_in(lines), binarize(picture_of(page_of(lines))))
    for line, found in zip(lines, sorted(measured, key=lambda found: found.baseline), strict=True):
        assert found.baseline / SCALE == pytest.approx(line.y, abs=0.5)
        assert found.size / SCALE == pytest.approx(line.size, rel=0.07)
        assert found.bold is (line.font == "tibo")


def test_spaces_that_were_lost_are_found_in_the_gaps() -> None:
    line = Line(72, 100, "Experimental results for all", 10)
    (last, *_) = words_in([Line(72, 100, "Experimentalresultsforall", 10)])
    width = pymupdf.get_text_length(line.text, fontname="tiro", fontsize=10)
    box = Box(72 * SCALE, last.box.y0, (72 + width) * SCALE, last.box.y1)
    steps = [
        72 + pymupdf.get_text_length(line.text[:at], fontname="tiro", fontsize=10) + 2 for at in range(len(line.text))
    ]
    centers = tuple(step * SCALE for step, letter in zip(steps, line.text, strict=True) if letter != " ")
    word = RecognizedWord(text=last.text, box=box, line=0, confidence=1.0, letters=centers)
    ink = binarize(picture_of(page_of([line])))
    found = respace_line([word], ink, rows=(round(92 * SCALE), round(102 * SCALE)), size=10 * SCALE)
    assert [piece.text for piece in found] == line.text.split()


def test_sizes_near_the_commonest_become_that_size() -> None:
    assert snap_sizes([(10.0, 500), (10.4, 40), (9.7, 60), (14.0, 10), (14.3, 10)]) == [10.0, 10.0, 10.0, 14.2, 14.2]


def test_rules_and_pictures_are_found_in_the_raster() -> None:
    picture = Image.new("RGB", (800, 800), "white")
    draw = ImageDraw.Draw(picture)
    draw.line((100, 100, 500, 100), fill="black", width=2)
    draw.line((100, 100, 100, 300), fill="black", width=2)
    draw.ellipse((500, 500, 700, 700), fill="grey", outline="black")
    ink = binarize(picture)
    rules = find_rules(ink, least=60, thickest=6)
    assert [round(box.x1 - box.x0) for box in rules.horizontal] == [pytest.approx(401, abs=3)]
    assert [round(box.y1 - box.y0) for box in rules.vertical] == [pytest.approx(201, abs=3)]
    pictures = find_pictures(ink, text=[Box(90, 90, 510, 310)], least=100)
    assert [tuple(round(value, -1) for value in box) for box in pictures] == [
        pytest.approx((500, 500, 700, 700), abs=20)
    ]


@pytest.mark.parametrize("angle", [-3.0, 1.5, 0.0])
def test_a_page_that_leans_is_turned_back(angle: float) -> None:
    many = [
        Line(60, 60 + 14 * row, "Foxes jump over lazy dogs every day and never come back home.") for row in range(20)
    ]
    picture = picture_of(page_of(many), angle=angle)
    assert estimate_skew(binarize(picture)) == pytest.approx(angle, abs=0.15)


def test_dashes_and_bullets_that_stand_alone_are_kept() -> None:
    item, cell = Line(90, 100, "Foxes jump over"), Line(90, 140, "88.95")
    document = page_of([item, cell, Line(200, 140, "-")])
    document[0].draw_circle((80, 96.7), 1.9, fill=(0, 0, 0))
    ink = binarize(picture_of(document))
    marks = find_marks(measure_lines(words_in([item, cell]), ink), ink)
    assert sorted((mark.text, round(mark.x0 / SCALE, -1)) for mark in marks) == [("-", 200), ("•", 80)]


def test_a_blank_page_has_nothing_to_recognise() -> None:
    white = Image.new("RGB", (400, 300), "white")
    page = recognize_page(white, FakeRecognizer(), number=1, width=400, height=300)
    assert (page.content.chars, page.content.images, page.confidence, page.skew) == ((), (), 0.0, 0.0)
    assert not np.any(binarize(white))


TABLE = (
    Line(72, 60, "Table 1: Results of foxes and dogs."),
    Line(80, 90, "Model"), Line(200, 90, "Prec."), Line(300, 90, "F1"),
    Line(80, 112, "Fox"), Line(200, 112, "93.68"), Line(300, 112, "94.07"),
    Line(80, 126, "Dog"), Line(200, 126, "91.11"), Line(300, 126, "90.81"),
)  # fmt: skip
RULES = ((72, 340, 76), (72, 340, 96), (72, 340, 134))


@pytest.mark.slow
@pytest.mark.usefixtures("small_raster")
def test_rapidocr_reads_text_and_a_table_without_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rapidocr", reason="the extra ocr is not installed")

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("text recognition opened a socket")

    monkeypatch.setattr(socket, "socket", refused)
    scan = scan_of(page_of([*TABLE, Line(72, 190, LINES[0].text)], rules=RULES), angle=1.0)
    paper = parse(scan, tmp_path, recognition_for("auto"))
    (table,) = (element for element in paper.elements if isinstance(element, Table))
    assert table.grid() == [["Model", "Prec.", "F1"], ["Fox", "93.68", "94.07"], ["Dog", "91.11", "90.81"]]
    assert (table.label, table.caption) == ("Table 1", "Results of foxes and dogs.")
    assert LINES[0].text in [element.text for element in paper.elements if isinstance(element, Passage)]
    assert "recognised (OCR), mean confidence" in paper.problems[0].reason


@pytest.mark.slow
@pytest.mark.usefixtures("small_raster")
@pytest.mark.parametrize("turns", [1, 3])
def test_a_scan_on_its_side_is_turned_and_read(tmp_path: Path, turns: int) -> None:
    pytest.importorskip("rapidocr", reason="the extra ocr is not installed")
    out = io.BytesIO()
    picture_of(page_of()).rotate(-90 * turns, expand=True).save(out, format="PNG")
    with pymupdf.open() as scan:
        page = scan.new_page(width=400, height=500)
        page.insert_image(page.rect, stream=out.getvalue())
        paper = parse(scan.tobytes(), tmp_path, recognition_for("auto"))
    text = " ".join(element.text for element in paper.elements if isinstance(element, Passage))
    assert all(line.text in text for line in LINES)
    assert f"turned by {90 if turns == 1 else -90}°" in paper.problems[0].reason
    first = next(element.place.box for element in paper.elements if "Foxes" in getattr(element, "text", ""))
    assert {1: first.x1 > 290, 3: first.x0 < 110}[turns]
