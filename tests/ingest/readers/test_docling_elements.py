"""Docling's document as a paper: its order, captions and cells are kept, its boxes are turned to ours."""

import pytest

from ingest.readers.docling import paper_of_docling
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box, Equation, Figure, Paper, Passage, Reference, Table
from tests.ingest.readers.docling_documents import DoclingJson, cell, prov


def read(document: DoclingJson) -> Paper:
    return paper_of_docling(document.export(), sha256="ab" * 32, file="fox.pdf")


def passages(paper: Paper, role: str) -> list[str]:
    return [element.text for element in paper.elements if isinstance(element, Passage) and element.role == role]


def tables(paper: Paper) -> dict[str, Table]:
    return {element.label: element for element in paper.elements if isinstance(element, Table)}


def test_texts_become_title_authors_sections_lists_equations_and_references() -> None:
    document = DoclingJson(pages=2)
    document.text("page_header", "Journal of Foxes", y=5, content_layer="furniture")
    document.text("section_header", "A Paper on Foxes", y=20, level=1)
    document.text("text", "Ada Lovelace and Alan Turing", y=40)
    document.text("section_header", "Abstract", y=60, level=1)
    document.text("text", "Foxes are compared.", y=80)
    document.text("section_header", "1 Introduction", y=100, level=1)
    document.text("text", "As Eq. (1) and Doe et al. (2019) say.", y=120, prov=[prov(120, 130), prov(20, 40, 2)])
    document.text("formula", "", y=140, orig="E = mc (1)")
    document.text("list_item", "one yard", y=160, marker="-")
    document.text("list_item", "another", y=170, marker="(b)")
    document.text("section_header", "1.1 Yards", y=180, level=1)
    document.text("footnote", "1 A note.", y=190)
    document.text("code", "if fox:\n    jump()", y=200)
    document.text("section_header", "References", page=2, level=1)
    document.text("list_item", "Jane Doe, Max Roe, and Ann Poe. 2019. Foxes. Journal.", page=2, marker="-")
    paper = read(document)
    assert (paper.title, paper.authors, paper.format) == ("A Paper on Foxes", ("Ada Lovelace", "Alan Turing"), "pdf")
    assert (len(paper.pages), paper.file, paper.id) == (2, "fox.pdf", "abababababab")
    assert [section.path for section in paper.sections] == [
        "Abstract", "1 Introduction", "1 Introduction > 1.1 Yards", "References"
    ]  # fmt: skip
    assert passages(paper, "abstract") == ["Foxes are compared."]
    assert passages(paper, "list") == ["• one yard", "(b) another"]
    assert passages(paper, "footnote") == ["1 A note."]
    assert passages(paper, "code") == ["if fox:\n    jump()"]
    assert passages(paper, "furniture") == ["Journal of Foxes"]
    (equation,) = (element for element in paper.elements if isinstance(element, Equation))
    assert (equation.label, equation.text) == ("Equation 1", "E = mc")
    (reference,) = (element for element in paper.elements if isinstance(element, Reference))
    assert (reference.label, reference.year) == ("Doe et al., 2019", 2019)
    assert {link.target for link in paper.links} == {equation.id, reference.id}
    assert paper.problems == ()


def test_boxes_count_from_the_top_left_corner_and_a_passage_keeps_all_its_places() -> None:
    document = DoclingJson(pages=2)
    document.text("text", "It goes on.", prov=[prov(700, 790), prov(20, 40, 2)])
    (passage,) = read(document).elements
    assert isinstance(passage, Passage)
    assert (passage.place.page, passage.place.box) == (1, Box(60, 700, 290, 790))
    assert [(place.page, place.box) for place in passage.more_places] == [(2, Box(60, 20, 290, 40))]


def test_a_table_keeps_its_cells_spans_roles_and_boxes() -> None:
    document = DoclingJson()
    caption = document.text("caption", "Table 2: Scores of all.", y=80)
    cells = [
        cell(0, 0, "Model", down=2, column_header=True),
        cell(0, 1, "Scores", right=2, column_header=True),
        cell(1, 1, "F1", column_header=True),
        cell(1, 2, "EM", column_header=True),
        cell(2, 0, "Wild", right=3, row_section=True),
        cell(3, 0, "Fox\u00a0 one"),
        cell(3, 1, "91.5"),
        cell(3, 2, " "),
        cell(4, 0, "Dog") | {"bbox": None},
        cell(4, 1, "7"),
        cell(4, 2, "8"),
    ]
    document.table(95, cells, captions=[{"$ref": caption}])
    document.text("text", "Table 2 shows scores.", y=200)
    (table,) = tables(read(document)).values()
    assert (table.label, table.caption, table.header_rows) == ("Table 2", "Scores of all.", 2)
    assert table.caption_place is not None
    assert table.caption_place.box == Box(60, 80, 290, 90)
    assert table.grid() == [
        ["Model", "Scores", ""], ["", "F1", "EM"], ["Wild", "", ""], ["Fox one", "91.5", ""], ["Dog", "7", "8"]
    ]  # fmt: skip
    assert table.column_names() == ["Model", "Scores F1", "Scores EM"]
    roles = {found.text: found.role for found in table.cells}
    assert (roles["Wild"], roles["Fox one"], roles["91.5"]) == ("section", "row_header", "value")
    boxes = {found.text: found.place.box for found in table.cells}
    assert (boxes["91.5"], boxes["Dog"]) == (Box(110, 136, 150, 146), table.place.box)


def test_captions_that_docling_gave_to_nothing_go_to_the_float_beside_them() -> None:
    document = DoclingJson()
    document.text("caption", "Table 1: Foxes.", y=85)
    document.table(100, [cell(0, 0, "a"), cell(0, 1, "1")])
    document.picture(200)
    document.text("caption", "Figure 1: A fox.", y=256)
    document.text("caption", "Figure 2: Nobody's.", y=700)
    paper = read(document)
    assert tables(paper)["Table 1"].caption == "Foxes."
    figures = [element for element in paper.elements if isinstance(element, Figure)]
    assert [(figure.label, figure.caption, figure.place.box.y0) for figure in figures] == [
        ("Figure 1", "A fox.", 200),
        ("Figure 2", "Nobody's.", 700),
    ]
    assert [problem.reason for problem in paper.problems] == ["Figure 2: docling found nothing beside this caption"]


def test_what_stands_in_a_picture_is_its_text_and_no_paragraph() -> None:
    document = DoclingJson()
    caption = document.text("caption", "Figure 1: A fox.", y=256)
    inner = document.text("text", "x axis", y=210)
    note = document.text("footnote", "Drawn by hand.", y=270)
    document.body.clear()
    refs = [{"$ref": ref} for ref in (caption, inner, note)]
    document.picture(200, captions=refs[:1], children=refs, footnotes=refs[2:])
    paper = read(document)
    (figure,) = (element for element in paper.elements if isinstance(element, Figure))
    assert (figure.text, figure.caption, figure.place.box) == ("x axis", "A fox.", Box(60, 200, 290, 250))
    assert (passages(paper, "paragraph"), passages(paper, "footnote")) == ([], ["Drawn by hand."])


def test_a_table_without_cells_is_a_problem_also_where_docling_saw_a_picture() -> None:
    document = DoclingJson()
    for number, y in ((3, 100), (4, 300)):
        caption = document.text("caption", f"Table {number}: Lost.", y=y - 15)
        (document.table(y, [], captions=[{"$ref": caption}]) if number == 3
         else document.picture(y, captions=[{"$ref": caption}]))  # fmt: skip
    paper = read(document)
    assert {label: (table.cells, table.confidence) for label, table in tables(paper).items()} == {
        "Table 3": ((), 0.0), "Table 4": ((), 0.0)
    }  # fmt: skip
    assert [problem.reason for problem in paper.problems] == [
        "Table 3: docling read no cells of it", "Table 4: docling read no cells of it"
    ]  # fmt: skip


def test_groups_are_read_in_order_and_circles_and_loose_ends_are_passed_over() -> None:
    document = DoclingJson()
    first = document.text("text", "First.", y=10)
    second = document.text("text", "Second.", y=20)
    document.body.clear()
    group = document.add("groups", {"label": "list", "children": [{"$ref": second}, {"$ref": "#/groups/0"}]})
    document.body.append({"$ref": first})
    document.body.append({"$ref": "#/texts/99"})
    assert group == "#/groups/0"
    assert passages(read(document), "paragraph") == ["Second.", "First."]


@pytest.mark.parametrize(
    ("change", "named"),
    [({"pages": {}}, "found no page"), ({"body": None}, "body: "), ({"texts": [{"self_ref": 4}]}, "texts.0.self_ref")],
)
def test_another_shape_is_one_clear_error(change: dict[str, object], named: str) -> None:
    document = DoclingJson().export() | change
    with pytest.raises(PaperFileError, match=r"'fox\.pdf'.*") as caught:
        paper_of_docling(document, sha256="ab" * 32, file="fox.pdf")
    assert named in str(caught.value)
