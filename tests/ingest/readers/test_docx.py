"""Word documents: characters of symbol fonts, pictures wherever they are, and who wrote them."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from docx import Document
from docx.document import Document as WordDocument
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from docx.shared import Inches
from docx.text.paragraph import Paragraph
from PIL import Image

from ingest.parsers import parser_for
from ingest.readers.symbol_fonts import symbol_character
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Figure, Paper, PaperFile, Passage, Table

SVG = (
    b'<?xml version="1.0"?><!-- drawn -->\n<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80">'
    b'<rect width="90" height="60" fill="#3366cc"/></svg>'
)


def parse(folder: Path, document: WordDocument, *, more: dict[str, bytes] | None = None) -> Paper:
    out = BytesIO()
    document.save(out)
    if more:
        with zipfile.ZipFile(out) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()} | more
        out = BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
    file = folder / "a.docx"
    file.write_bytes(out.getvalue())
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file)).paper


def add_symbol(paragraph: Paragraph, font: str, code: str) -> None:
    symbol = OxmlElement("w:sym")
    symbol.set(qn("w:font"), font)
    symbol.set(qn("w:char"), code)
    paragraph.add_run()._r.append(symbol)


def picture(color: str) -> BytesIO:
    out = BytesIO()
    Image.new("RGB", (60, 40), color).save(out, "PNG")
    out.seek(0)
    return out


def texts(paper: Paper) -> list[str]:
    return [element.text for element in paper.elements if isinstance(element, Passage)]


def test_characters_of_symbol_fonts_are_unicode(tmp_path: Path) -> None:
    document = Document()
    paragraph = document.add_paragraph("Rate ")
    for code in ("F067", "F0A5", "F0CE"):
        add_symbol(paragraph, "Symbol", code)
    add_symbol(document.add_paragraph("Done "), "Wingdings", "F0FE")
    run = document.add_paragraph("At ").add_run("\uf071 \uf0b9 b")
    run.font.name = "Symbol"
    table = document.add_table(rows=2, cols=2)
    for at, text in enumerate(("Model", "Open")):
        table.cell(0, at).text = text
    table.cell(1, 0).text = "A"
    add_symbol(table.cell(1, 1).paragraphs[0], "Wingdings 2", "F050")
    paper = parse(tmp_path, document)
    assert texts(paper) == ["Rate γ∞∈", "Done ☑", "At θ ≠ β"]
    (found,) = (element for element in paper.elements if isinstance(element, Table))
    assert found.grid() == [["Model", "Open"], ["A", "✓"]]


@pytest.mark.parametrize(
    ("font", "code", "character"),
    [
        ("Symbol", 0xF0E5, "∑"),
        ("symbol", 0x61, "α"),
        ("Wingdings", 0xF0FB, "✗"),
        ("Wingdings", 0xF0FF, "\ufffd"),
        ("Arial", 0xB1, "±"),
        ("MT Extra", 0xF0B1, "±"),
        ("Zapf Dingbats", 0x34, "✔"),
        ("Arial", 0xD800, "\ufffd"),
    ],
)
def test_codes_of_a_font(font: str, code: int, character: str) -> None:
    assert symbol_character(font, code) == character


def test_every_picture_is_a_figure(tmp_path: Path) -> None:
    document = Document()
    document.add_paragraph("Three pictures.")
    document.add_picture(picture("red"), width=Inches(1))
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text = "One"
    table.cell(0, 1).paragraphs[0].add_run().add_picture(picture("green"), width=Inches(1))
    document.add_paragraph().add_run().add_picture(picture("blue"), width=Inches(1))
    description = document.element.body.findall(f".//{qn('wp:docPr')}")[-1]
    description.set("descr", "The third of them, in blue")
    paper = parse(tmp_path, document, more={"word/media/image3.png": SVG})
    figures = [element for element in paper.elements if isinstance(element, Figure)]
    assert len({figure.crop for figure in figures if figure.crop}) == 3
    assert [figure.caption for figure in figures] == ["", "", "The third of them, in blue"]


def test_a_picture_in_a_format_that_is_not_drawn_is_named(tmp_path: Path) -> None:
    document = Document()
    document.add_paragraph("A picture.")
    document.add_picture(picture("red"), width=Inches(1))
    paper = parse(tmp_path, document, more={"word/media/image1.png": b"\x01\x00\x00\x00\x6c\x00\x00\x00 EMF"})
    (problem,) = paper.problems
    assert problem.reason == "pictures that can't be read (of no format that is read): word/media/image1.png"


def test_the_author_and_the_doi_of_the_properties_count_if_the_document_names_none(tmp_path: Path) -> None:
    document = Document()
    document.add_heading("Soils", 0)
    document.add_paragraph("Soils hold water.")
    document.core_properties.author = "Rosa Lind; Omar Hadid"
    document.core_properties.subject = "https://doi.org/10.5555/soil.7"
    paper = parse(tmp_path, document)
    assert (paper.authors, paper.publication.doi) == (("Rosa Lind", "Omar Hadid"), "10.5555/soil.7")


@pytest.mark.parametrize("creator", ["python-docx", "Microsoft Office User", "admin"])
def test_the_name_of_a_program_is_no_author(tmp_path: Path, creator: str) -> None:
    document = Document()
    document.add_heading("Soils", 0)
    document.core_properties.author = creator
    assert parse(tmp_path, document).authors == ()


def test_authors_on_the_first_page_precede_those_of_the_properties(tmp_path: Path) -> None:
    document = Document()
    document.add_heading("Soils", 0)
    document.add_paragraph("Ada Lovelace, Grace Hopper")
    document.add_heading("Abstract", 1)
    document.add_paragraph("Soils hold water.")
    document.core_properties.author = "Rosa Lind"
    assert parse(tmp_path, document).authors == ("Ada Lovelace", "Grace Hopper")


def test_the_terms_of_a_sum_are_in_brackets(tmp_path: Path) -> None:
    document = Document()
    paragraph = document.add_paragraph("Sum ")
    paragraph._p.append(
        parse_xml(
            '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:nary><m:naryPr>'
            '<m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>j</m:t></m:r></m:sub><m:sup/><m:e><m:r><m:t>p+q</m:t></m:r>'
            "</m:e></m:nary></m:oMath>"
        )
    )
    assert texts(parse(tmp_path, document)) == ["Sum ∑_j (p+q)"]
