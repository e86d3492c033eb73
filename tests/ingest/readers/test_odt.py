"""OpenDocument texts: headings, lists, tables with spans, pictures, formulas, notes, styles."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from ingest.parsers import parser_for
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Equation, Figure, PaperFile, ParsedPaper, Passage, Table

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "meta")
)
NAMES += ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'
NAMES += ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
NAMES += ' xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
STYLES = """<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>
<style:style style:name="T1" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style>
<text:list-style style:name="L1"><text:list-level-style-number text:level="1"/></text:list-style>"""
BODY = """<text:p text:style-name="P1">Owl Nets</text:p>
<text:h text:outline-level="1">1 Results</text:h>
<text:p>Owls<text:s/>see 10<text:span text:style-name="T1">3</text:span> stars<text:note text:note-class="footnote">
<text:note-citation>1</text:note-citation>
<text:note-body><text:p>At night.</text:p></text:note-body></text:note>.</text:p>
<text:list text:style-name="L1"><text:list-item><text:p>First</text:p></text:list-item>
<text:list-item><text:p>Second</text:p></text:list-item></text:list>
<text:p>Table 1: Accuracy.</text:p>
<table:table><table:table-column/><table:table-header-rows><table:table-row><table:table-cell
 table:number-rows-spanned="2"><text:p>Model</text:p></table:table-cell><table:table-cell
 table:number-columns-spanned="2"><text:p>Score</text:p></table:table-cell><table:covered-table-cell/></table:table-row>
<table:table-row><table:covered-table-cell/><table:table-cell><text:p>Day</text:p></table:table-cell>
<table:table-cell><text:p>Night</text:p></table:table-cell></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell><text:p>Owl</text:p></table:table-cell><table:table-cell
 table:number-columns-repeated="2"><text:p>91.5</text:p></table:table-cell></table:table-row></table:table>
<text:p><draw:frame><draw:text-box><text:p><draw:frame><draw:image xlink:href="Pictures/owl.png"/></draw:frame>Figure
 <text:sequence>1</text:sequence>: An owl.</text:p></draw:text-box></draw:frame></text:p>
<text:p><draw:frame><draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/>
</draw:frame><text:tab/>(2)</text:p>
<text:p><draw:frame><svg:title>A door</svg:title><draw:image xlink:href="../../secret.png"/></draw:frame></text:p>"""
MATH = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mfrac><mi>a</mi><mi>b</mi></mfrac>'
    '<annotation encoding="StarMath 5.0">a over b</annotation></semantics></math>'
)


def document(body: str = BODY, *, before: str = "") -> bytes:
    picture = BytesIO()
    Image.new("RGB", (40, 30), "navy").save(picture, "PNG")
    content = (
        f"{before}<office:document-content {NAMES}><office:automatic-styles>{STYLES}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    parts: dict[str, str | bytes] = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": content,
        "meta.xml": f"<office:document-meta {NAMES}><office:meta><meta:initial-creator>Ada Lovelace"
        "</meta:initial-creator></office:meta></office:document-meta>",
        "Object 1/content.xml": MATH,
        "Pictures/owl.png": picture.getvalue(),
    }
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def parse(folder: Path, data: bytes) -> ParsedPaper:
    file = folder / "a.dat"
    file.write_bytes(data)
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file))


def test_a_document_keeps_its_structure(tmp_path: Path) -> None:
    parsed = parse(tmp_path, document())
    paper = parsed.paper
    assert (paper.format, paper.title, paper.authors) == ("odt", "Owl Nets", ("Ada Lovelace",))
    texts = [(one.role, one.text, one.place.where) for one in paper.elements if isinstance(one, Passage)]
    assert ("heading", "1 Results", "line 2") in texts
    assert ("paragraph", "Owls see 10³ stars¹.", "line 3") in texts
    assert ("footnote", "¹ At night.") in {text[:2] for text in texts}
    assert [text for role, text, _ in texts if role == "list"] == ["1. First", "2. Second"]
    (table,) = (one for one in paper.elements if isinstance(one, Table))
    assert (table.label, table.caption, table.header_rows) == ("Table 1", "Accuracy.", 2)
    assert table.grid()[1:] == [["", "Day", "Night"], ["Owl", "91.5", "91.5"]]
    assert {cell.text: (cell.row_span, cell.column_span) for cell in table.cells if cell.row == 0} == {
        "Model": (2, 1),
        "Score": (1, 2),
    }
    (figure,) = (one for one in paper.elements if isinstance(one, Figure) and one.crop)
    assert (figure.label, figure.caption) == ("Figure 1", "An owl.")
    assert figure.crop in parsed.crops
    (equation,) = (one for one in paper.elements if isinstance(one, Equation))
    assert (equation.label, equation.text) == ("Equation 2", "a/b")
    assert [problem.reason for problem in paper.problems] == [
        "pictures that are not in the file are left out: ../../secret.png"
    ]


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    before = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    paper = parse(tmp_path, document("<text:p>A text &x; that is read.</text:p>", before=before)).paper
    assert [one.text for one in paper.elements if isinstance(one, Passage)] == ["A text &x; that is read."]


def test_a_document_without_a_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PaperFileError, match="holds no text that can be read"):
        parse(tmp_path, document(""))
