"""Glyphs that the codes of a file don't name correctly, and what is read instead."""

from collections.abc import Mapping
from pathlib import Path

import pymupdf
import pytest

from ingest.ocr import OcrBackend, Recognition, RecognizedWord
from ingest.pdf import PdfParser
from ingest.pdf.fonts import glyph_text
from ingest.pdf.mupdf import MuPdfBackend
from paperscope_core.types import UNKNOWN_CHARACTER, Box, Paper, PaperFile, Table
from tests.ingest.ocr.fake_recognizer import FakeRecognizer

SHUFFLED = dict(zip("0123456789", "9170348562", strict=True)) | {".": "="}
SENTENCE = "The risk is higher in each of the groups that we studied for a year."


def pdf_of(
    lines: Mapping[float, list[tuple[float, str, str]]], lies: Mapping[str, Mapping[str, str]]
) -> pymupdf.Document:
    """Print texts by baseline, as (x, font, text); `lies` has the wrong characters of each font by the printed ones."""
    document = pymupdf.open()
    page = document.new_page(width=500, height=400)
    fonts = {name: pymupdf.Font(name) for parts in lines.values() for _, name, _ in parts}
    for name, font in fonts.items():
        # Each text in a font of its own name, as subsets have.
        page.insert_font(fontname=f"F{name}", fontbuffer=font.buffer)
    for y, parts in lines.items():
        for x, name, text in parts:
            page.insert_text((x, y), text, fontname=f"F{name}", fontsize=10)
    for xref, _, _, _, key, *_ in page.get_fonts(full=True):
        name = key.removeprefix("F")
        printed = {letter for parts in lines.values() for _, used, text in parts if used == name for letter in text}
        told = {letter: lies.get(name, {}).get(letter, letter) for letter in printed}
        rows = [f"<{fonts[name].has_glyph(ord(one)):04x}> <{ord(other):04x}>" for one, other in told.items()]
        document.update_stream(int(document.xref_get_key(xref, "ToUnicode")[1].split()[0]), _to_unicode(rows))
    return document


def _to_unicode(rows: list[str]) -> bytes:
    head = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
    body = f"1 begincodespacerange <0000> <ffff> endcodespacerange\n{len(rows)} beginbfchar\n" + "\n".join(rows)
    return f"{head}{body}\nendbfchar endcmap end end".encode()


def text_of(document: pymupdf.Document) -> str:
    """The characters of the first page in the order of the file."""
    with MuPdfBackend().open(document.tobytes(), name="paper.pdf", password=None) as opened:
        return "".join(char.text for char in opened.read(1).chars)


def parsed(document: pymupdf.Document, folder: Path, *, recognition: Recognition | None = None) -> Paper:
    (folder / "paper.pdf").write_bytes(document.tobytes())
    backend = OcrBackend(MuPdfBackend(), recognition or Recognition())
    return PdfParser(dpi=36, backend=backend).parse(PaperFile(folder / "paper.pdf")).paper


def test_minus_that_is_said_to_be_a_digit() -> None:
    document = pdf_of({100: [(72, "symb", "−"), (80, "tiro", "0.76 and 22")]}, {"symb": {"−": "2"}})
    assert text_of(document) == "−0.76and22"


@pytest.mark.parametrize("font", ["helv", "tiro", "tibo"])
def test_digits_that_are_said_to_be_other_digits(font: str) -> None:
    document = pdf_of({100: [(72, font, "0.02 years, 3456 of 1789")]}, {font: SHUFFLED})
    read = text_of(document)
    printed = "0.02years,3456of1789"
    # What is not certain by its shape is not read as anything.
    assert all(one in (other, UNKNOWN_CHARACTER) for one, other in zip(read, printed, strict=True))
    assert sum(map(str.isdigit, read)) >= 8


@pytest.mark.parametrize("code", ["\x03", "\ue123", UNKNOWN_CHARACTER])
@pytest.mark.parametrize(("font", "printed"), [("symb", "<≤≥±×=+α"), ("zadb", "✓✗")])
def test_codes_that_mean_nothing(font: str, printed: str, code: str) -> None:
    document = pdf_of({100: [(72, font, printed)]}, {font: dict.fromkeys(printed, code)})
    assert text_of(document) == printed


@pytest.mark.parametrize("font", ["helv", "hebo", "heit", "tiro", "tibo", "tiit", "cour"])
def test_right_codes_stay(font: str) -> None:
    printed = "Hamburgefonstiv0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+-–—−±<>=×·°µ†*/()[]%&§"
    assert text_of(pdf_of({100: [(10, font, printed[:36])], 120: [(10, font, printed[36:])]}, {})) == printed


def test_font_that_cannot_be_read_is_believed() -> None:
    document = pdf_of({100: [(72, "tiro", SENTENCE)]}, {})
    xref = document[0].get_fonts(full=True)[0][0]
    descendant = int(document.xref_get_key(xref, "DescendantFonts")[1].strip("[]").split()[0])
    descriptor = int(document.xref_get_key(descendant, "FontDescriptor")[1].split()[0])
    for key in ("FontFile", "FontFile2", "FontFile3"):
        kind, value = document.xref_get_key(descriptor, key)
        if kind == "xref":
            document.update_stream(int(value.split()[0]), b"not a font")
    assert text_of(document) == SENTENCE.replace(" ", "")


def unknown_table() -> pymupdf.Document:
    rows = {"Disease": "0.76", "Latitude": "0.24", "Energy": "0.12"}
    lines: dict[float, list[tuple[float, str, str]]] = {
        60: [(72, "tiro", SENTENCE)],
        100: [(72, "tiro", "Table 1: Estimates of the two models.")],
        120: [(72, "tiro", "Variable"), (200, "tiro", "Estimate")],
    }
    for number, (name, value) in enumerate(rows.items()):
        sign = [(194.0, "symb", "∀")] if name == "Disease" else []
        lines[136 + 14 * number] = [(72, "tiro", name), *sign, (202, "tiro", value)]
    document = pdf_of(lines, {"symb": {"∀": "2"}})
    for y in (110, 125, 170):
        document[0].draw_line((72, y), (300, y), width=0.7)
    return document


def test_doubtful_sign_reaches_its_cell_and_the_page(tmp_path: Path) -> None:
    paper = parsed(unknown_table(), tmp_path, recognition=Recognition(remedy="install it"))
    table = next(element for element in paper.elements if isinstance(element, Table))
    assert [row[-1] for row in table.grid()] == ["Estimate", f"{UNKNOWN_CHARACTER}0.76", "0.24", "0.12"]
    (problem,) = paper.problems
    assert problem.reason == '1 of its letters, digits and signs are not known, and shown as "\ufffd"; install it'
    assert paper.doubtful_pages == {1}


def test_doubtful_sign_is_recognised_between_its_neighbours(tmp_path: Path) -> None:
    word = RecognizedWord(text="-0.76", box=Box(0, 0, 9, 9), line=0, confidence=0.9)
    paper = parsed(unknown_table(), tmp_path, recognition=Recognition(recognizer=FakeRecognizer([word])))
    table = next(element for element in paper.elements if isinstance(element, Table))
    assert table.grid()[1][-1] == "-0.76"
    assert not paper.problems


@pytest.mark.parametrize(
    ("case", "page", "printed"),
    [
        ("minus-becomes-2_plosbio2012-p4", 1, {"−0.40": 2, "−2.99": 1, "−0.63": 1, "20.40": 0}),
        ("plus-minus-lt-lost_ajrccm2004-p3-4", 1, {"HIV+ve": 3, "HIV−ve": 3, "<0.001": 1, "≥50yr": 2, "<10yr": 1}),
        ("table-swallows-page_livecoms-p17", 1, {"✓": 12, "✗": 15}),
    ],
)
def test_pages_of_journals(shared: Path, case: str, page: int, printed: Mapping[str, int]) -> None:
    data = (shared / "cases" / "pdf" / f"{case}.pdf").read_bytes()
    with MuPdfBackend().open(data, name=case, password=None) as opened:
        text = "".join(char.text for char in opened.read(page).chars)
    assert {one: text.count(one) for one in printed} == printed


@pytest.mark.parametrize(("code", "sign"), [("\uf8eb", "⎛"), ("\uf8f4", "⎪"), ("\uf8fe", "⎭")])
def test_private_codes_of_pieces_of_brackets(code: str, sign: str) -> None:
    assert glyph_text(code, font="CMEX10")[0] == sign
