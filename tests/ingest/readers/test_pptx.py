"""Presentations: slides as pages and sections, lists, tables with spans, pictures, notes, formulas."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from pptx import Presentation
from pptx.oxml import parse_xml
from pptx.util import Pt

from ingest.parsers import parser_for
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Equation, Figure, PaperFile, ParsedPaper, Passage, Table

FORMULA = """<a:p xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"
 xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"
 xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
 xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"><mc:AlternateContent><mc:Choice Requires="a14">
 <a14:m><m:oMathPara><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>
 </m:oMathPara></a14:m></mc:Choice><mc:Fallback><a:r><a:t>(picture)</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>"""


def presentation() -> bytes:
    made = Presentation()
    first = made.slides.add_slide(made.slide_layouts[0])
    first.shapes.title.text, first.placeholders[1].text = "Owl Nets", "Ada Lovelace"
    second = made.slides.add_slide(made.slide_layouts[1])
    second.shapes.title.text, second.placeholders[1].text = "Results", "Owls see.\nAt night."
    second.notes_slide.notes_text_frame.text = "Say this slowly."
    table = second.shapes.add_table(3, 3, Pt(100), Pt(200), Pt(300), Pt(60)).table
    table.cell(0, 1).merge(table.cell(0, 2))
    for row, texts in enumerate((("Model", "Score", ""), ("", "Day", "Night"), ("Owl", "91.5", "7"))):
        for column, text in enumerate(texts):
            if text:
                table.cell(row, column).text = text
    third = made.slides.add_slide(made.slide_layouts[6])
    picture = BytesIO()
    Image.new("RGB", (60, 40), "navy").save(picture, "PNG")
    picture.seek(0)
    shape = third.shapes.add_picture(picture, Pt(10), Pt(20), Pt(60), Pt(40))
    shape._element.nvPicPr.cNvPr.set("descr", "An owl on a branch at night")
    box = third.shapes.add_textbox(Pt(10), Pt(100), Pt(200), Pt(50)).text_frame
    box.text = "10"
    raised = box.paragraphs[0].add_run()
    raised.text = "3"
    raised.font._element.set("baseline", "30000")
    box._txBody.append(parse_xml(FORMULA))
    out = BytesIO()
    made.save(out)
    return out.getvalue()


def parse(folder: Path, data: bytes) -> ParsedPaper:
    # The format is found by the content.
    file = folder / "a.dat"
    file.write_bytes(data)
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file))


def test_slides_are_pages_and_sections(tmp_path: Path) -> None:
    parsed = parse(tmp_path, presentation())
    paper = parsed.paper
    assert (paper.format, paper.title, len(paper.pages), paper.has_page_images) == ("pptx", "Owl Nets", 3, False)
    assert [section.title for section in paper.sections] == ["Results", "Slide 3"]
    texts = [(one.role, one.text, one.place.where) for one in paper.elements if isinstance(one, Passage)]
    assert ("list", "• At night.", "page 2") in texts
    assert ("paragraph", "Notes: Say this slowly.", "page 2") in texts
    assert ("paragraph", "10³", "page 3") in texts
    (table,) = (one for one in paper.elements if isinstance(one, Table))
    assert table.grid() == [["Model", "Score", ""], ["", "Day", "Night"], ["Owl", "91.5", "7"]]
    assert [cell.column_span for cell in table.cells if cell.text == "Score"] == [2]
    (figure,) = (one for one in paper.elements if isinstance(one, Figure))
    assert (figure.caption, figure.crop in parsed.crops) == ("An owl on a branch at night", True)
    assert tuple(figure.place.box) == (10, 20, 70, 60)
    (equation,) = (one for one in paper.elements if isinstance(one, Equation))
    assert (equation.text, equation.place.page) == ("a/b", 3)
    # Its place is that of the layout, which it fills.
    (title,) = (one for one in paper.elements if isinstance(one, Passage) and one.text == "Results")
    assert 0 < title.place.box.x0 < title.place.box.x1 < paper.pages[0].width


def test_a_presentation_without_slides_is_refused(tmp_path: Path) -> None:
    out = BytesIO()
    Presentation().save(out)
    with pytest.raises(PaperFileError, match="holds no slide that can be read"):
        parse(tmp_path, out.getvalue())


def test_entities_and_parts_outside_the_file_are_not_read(tmp_path: Path) -> None:
    changed = BytesIO()
    with zipfile.ZipFile(BytesIO(presentation())) as before, zipfile.ZipFile(changed, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            if name == "ppt/slides/slide1.xml":
                data = data.replace(b"?>", b'?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>', 1)
                data = data.replace(b"Owl Nets", b"Owl &x; Nets")
            after.writestr(name, data.replace(b"../media/image1.png", b"../../../../etc/passwd"))
    paper = parse(tmp_path, changed.getvalue()).paper
    assert paper.title == "Owl &x; Nets"
    assert not any(isinstance(element, Figure) for element in paper.elements)
