"""Formulas of files keep their meaning: as text, as LaTeX, and in the cells of tables."""

from io import BytesIO
from pathlib import Path

import pytest
from docx import Document
from docx.oxml import parse_xml

from ingest.parsers import parser_for
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Equation, Paper, PaperFile, Passage, Table

MATHML = (
    "<msup><mrow><mo>(</mo><mfrac><mrow><mi>u</mi><mo>-</mo><mn>1</mn></mrow><mi>w</mi></mfrac><mo>)</mo></mrow>"
    "<mn>3</mn></msup>"
)
OMML = (
    "<m:sSup><m:e><m:f><m:num><m:r><m:t>u-1</m:t></m:r></m:num><m:den><m:r><m:t>w</m:t></m:r></m:den></m:f></m:e>"
    "<m:sup><m:r><m:t>3</m:t></m:r></m:sup></m:sSup>"
)
LATEX = r"\left(\frac{u-1}{w}\right)^3"
TEXT = "((u-1)/w)³"
NAMESPACES = (
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
)


def parse(folder: Path, name: str, content: bytes) -> Paper:
    file = folder / name
    file.write_bytes(content)
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file)).paper


def word_document() -> bytes:
    document = Document()
    display = f"<m:oMathPara {NAMESPACES}><m:oMath>{OMML}</m:oMath></m:oMathPara>"
    document.add_paragraph("A display formula")._p.append(parse_xml(display))
    table = document.add_table(rows=2, cols=2)
    for at, text in enumerate(("Name", "Definition", "Loss")):
        table.cell(at // 2, at % 2).text = text
    table.cell(1, 1).paragraphs[0]._p.append(parse_xml(display))
    out = BytesIO()
    document.save(out)
    return out.getvalue()


FILES = {
    "a.html": (
        f"<h1>T</h1><p>A display formula</p><math display='block'>{MATHML}</math><table><tr><th>Name</th>"
        f"<th>Definition</th></tr><tr><td>Loss</td><td><math display='block'>{MATHML}</math></td></tr></table>"
    ).encode(),
    "a.md": (
        f"# T\n\nA display formula\n\n$$\n{LATEX}\n$$\n\n| Name | Definition |\n|---|---|\n| Loss | $${LATEX}$$ |\n"
    ).encode(),
    "a.xml": (
        "<article><front><article-meta/></front><body><p>A display formula</p><disp-formula><mml:math "
        f"xmlns:mml='http://www.w3.org/1998/Math/MathML'>{MATHML}</mml:math></disp-formula><table-wrap><table><tr>"
        "<th>Name</th><th>Definition</th></tr><tr><td>Loss</td><td><disp-formula><alternatives><graphic/>"
        f"<tex-math>{LATEX}</tex-math></alternatives></disp-formula></td></tr></table></table-wrap></body></article>"
    ).encode(),
    "a.docx": word_document(),
}


@pytest.mark.parametrize("name", FILES)
def test_a_display_formula_is_an_equation_with_latex_and_keeps_its_place_in_a_cell(tmp_path: Path, name: str) -> None:
    paper = parse(tmp_path, name, FILES[name])
    (equation,) = (element for element in paper.elements if isinstance(element, Equation))
    assert equation.text == TEXT
    assert "".join(equation.latex.split()) in (
        r"\left(\frac{u-1}{w}\right)^3",
        r"\left(\frac{u-1}{w}\right)^{3}",
        r"{\frac{u-1}{w}}^{3}",
    )
    (table,) = (element for element in paper.elements if isinstance(element, Table))
    assert table.grid() == [["Name", "Definition"], ["Loss", TEXT]]
    assert "A display formula" in {element.text for element in paper.elements if isinstance(element, Passage)}


def test_latex_of_a_page_is_kept_as_it_is_written(tmp_path: Path) -> None:
    page = '<h1>T</h1><math display="block" alttext="\\mathcal{L}=%&#10;\\tfrac12 x\\tag{7}"><mi>L</mi></math>'
    paper = parse(tmp_path, "a.html", page.encode())
    (equation,) = (element for element in paper.elements if isinstance(element, Equation))
    assert (equation.label, equation.text) == ("Equation 7", "L=(1/2) x")
    assert equation.latex == r"\mathcal{L}=\tfrac12 x"


@pytest.mark.parametrize(
    ("mathml", "text"),
    [
        ("<mfrac linethickness='0'><mi>m</mi><mi>r</mi></mfrac>", "binom(m, r)"),
        ("<mover><mi>θ</mi><mo>^</mo></mover>", "θ̂"),
        ("<mover accent='true'><mrow><mi>A</mi><mi>B</mi></mrow><mo>¯</mo></mover>", "overline(AB)"),
        ("<msub><mi>x</mi><mtext>max pool</mtext></msub>", "x_(max pool)"),
        ("<mfrac><mn>1</mn><mn>4</mn></mfrac><mi>t</mi>", "(1/4)t"),
        ("<mfenced open='[' close=')'><mn>0</mn><mn>1</mn></mfenced>", "[0, 1)"),
        (
            "<mmultiscripts><mi>X</mi><mi>a</mi><mi>b</mi><mprescripts/><mi>c</mi><none/></mmultiscripts>",
            "_c X_a^b",
        ),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr></mtable>", "[1, 0;]"),
        ("<mi>x</mi><mo>=</mo><mn>3</mn>", "x = 3"),
    ],
)
def test_mathml(tmp_path: Path, mathml: str, text: str) -> None:
    paper = parse(tmp_path, "a.html", f"<h1>T</h1><p>Let <math>{mathml}</math>.</p>".encode())
    assert f"Let {text}." in {element.text for element in paper.elements if isinstance(element, Passage)}


def test_text_beside_a_display_formula_of_a_paragraph_is_kept(tmp_path: Path) -> None:
    paper = parse(tmp_path, "a.docx", word_document())
    texts = [element.text for element in paper.elements if isinstance(element, Passage | Equation)]
    assert texts == ["A display formula", TEXT]
