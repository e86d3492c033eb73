"""MinerU's folder as an input: its blocks become elements, its captions are bound anew, its gaps are said."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from ingest.formats import paper_files
from ingest.parsers import parser_for
from ingest.readers.mineru import MinerUParser, is_mineru_folder
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Box, Equation, Figure, Paper, PaperFile, ParsedPaper, Passage, Reference, Table

LEFT, RIGHT = (60, 290), (310, 540)


@dataclass(kw_only=True)
class Sheet:
    """A page that is filled block by block, in the shape of MinerU 0.7 to 3."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    discarded: list[dict[str, Any]] = field(default_factory=list)

    def text(self, y: float, *lines: str, kind: str = "text", x: tuple[float, float] = LEFT, **more: Any) -> None:
        self.blocks.append(text_block(y, *lines, kind=kind, x=x) | more)

    def floating(
        self, y: tuple[float, float], *, kind: str, x: tuple[float, float] = LEFT, html: str = "", image: str = "",
        notes: Sequence[dict[str, Any]] = (),
    ) -> None:  # fmt: skip
        bbox = [x[0], y[0], x[1], y[1]]
        span = {"type": kind, "bbox": bbox, "html": html, "image_path": image}
        body = {"type": f"{kind}_body", "bbox": bbox, "lines": [{"bbox": bbox, "spans": [span]}]}
        self.blocks.append({"type": kind, "bbox": bbox, "blocks": [body, *notes]})

    def equation(self, y: float, latex: str) -> None:
        bbox = [LEFT[0], y, LEFT[1], y + 30]
        span = {"type": "interline_equation", "bbox": bbox, "content": latex}
        self.blocks.append({"type": "interline_equation", "bbox": bbox, "lines": [{"bbox": bbox, "spans": [span]}]})


def text_block(y: float, *lines: str, kind: str = "text", x: tuple[float, float] = LEFT) -> dict[str, Any]:
    rows = [
        {"bbox": [x[0], y + 12 * row, x[1], y + 12 * row + 10], "spans": [{"type": "text", "content": line}]}
        for row, line in enumerate(lines)
    ]
    return {"type": kind, "bbox": [x[0], y, x[1], y + 12 * len(lines) - 2], "lines": rows}


def write(folder: Path, *sheets: Sheet, deleted: Sequence[dict[str, Any]] = ()) -> Path:
    folder.mkdir(exist_ok=True)
    merged = {str(block["bbox"]): block for block in deleted}
    pages = [
        {
            "page_idx": number,
            "page_size": [600, 800],
            "preproc_blocks": sheet.blocks,
            "para_blocks": [merged.get(str(block["bbox"]), block) for block in sheet.blocks],
            "discarded_blocks": sheet.discarded,
        }
        for number, sheet in enumerate(sheets)
    ]
    (folder / "paper_middle.json").write_text(json.dumps({"pdf_info": pages, "_version_name": "2.7.6"}))
    return folder


def parse(folder: Path) -> Paper:
    return MinerUParser().parse(PaperFile(folder)).paper


@pytest.mark.slow
def test_a_folder_is_read_with_limits_of_time_and_memory(tmp_path: Path) -> None:
    sheet = Sheet()
    for _ in range(2000):  # a reply to less may be there before the wait begins
        sheet.text(100, "A paper.")
    folder = write(tmp_path / "folder", sheet)
    assert parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(folder)).paper.file == "folder"
    with pytest.raises(PaperFileError, match=r"'folder' was given up: .* longer than"):
        parser_for(ParserSettings(), limits=LimitSettings(parse_seconds=0.0001)).parse(PaperFile(folder))


def tables(paper: Paper) -> dict[str, Table]:
    return {element.label: element for element in paper.elements if isinstance(element, Table)}


def passages(paper: Paper, role: str) -> list[str]:
    return [element.text for element in paper.elements if isinstance(element, Passage) and element.role == role]


ONE = "<table><tr><td>Model</td><td>F1</td></tr><tr><td>Fox</td><td>91.5</td></tr></table>"
TWO = (
    "<table><tr><td>Dog</td><td>90.1</td></tr><tr><td colspan=2>Wild</td></tr><tr><td>Wolf</td><td>89</td></tr></table>"
)


def test_text_becomes_title_authors_sections_lists_equations_and_references(tmp_path: Path) -> None:
    first, second = Sheet(), Sheet()
    first.text(40, "A Paper on Foxes", kind="title")
    first.text(60, "Ada Lovelace and Alan Turing")
    first.text(80, "Abstract", kind="title")
    first.text(100, "Foxes are com-", "pared with dogs.")
    first.text(140, "1 Introduction", kind="title")
    first.text(160, "Foxes jump, as Eq. (1) and Doe et al. (2019) say. They end in the")
    first.text(180, "2 Data", kind="title", x=RIGHT)
    first.text(200, "2.1 Yards", kind="title", x=RIGHT)
    first.text(220, "• one yard", "with a fence", "• two yards", x=RIGHT)
    first.equation(300, r"E=m \tag{1}")
    second.text(40, "References", kind="title")
    second.text(60, "Jane Doe, Max Roe, and Ann Poe. 2019. Foxes at", "large. Journal of Yards.")
    second.discarded.append(text_block(780, "2", kind="page_number"))
    paper = parse(write(tmp_path / "out", first, second))
    assert (paper.title, paper.authors, paper.format) == ("A Paper on Foxes", ("Ada Lovelace", "Alan Turing"), "mineru")
    assert passages(paper, "abstract") == ["Foxes are compared with dogs."]
    assert passages(paper, "list") == ["• one yard with a fence", "• two yards"]
    assert passages(paper, "furniture") == ["2"]
    assert [section.path for section in paper.sections][1:] == [
        "1 Introduction",
        "2 Data",
        "2 Data > 2.1 Yards",
        "References",
    ]
    equation = next(element for element in paper.elements if isinstance(element, Equation))
    assert (equation.label, equation.text) == ("Equation 1", "E=m")
    reference = next(element for element in paper.elements if isinstance(element, Reference))
    assert (reference.label, reference.year) == ("Doe et al., 2019", 2019)
    assert {link.target for link in paper.links} == {equation.id, reference.id}
    assert equation.place.box == Box(60, 300, 290, 330)


def test_captions_go_to_the_nearest_table_on_the_side_that_the_document_prefers(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.floating((50, 100), kind="table", html=ONE)
    wrong = text_block(106, "Table 1: Foxes.", kind="table_caption")
    sheet.floating(
        (130, 200), kind="table", html=TWO, notes=[wrong, text_block(206, "Table 2: Dogs.", kind="table_footnote")]
    )
    sheet.text(240, "Running text.")
    sheet.floating((300, 350), kind="table", html=ONE)
    sheet.text(356, "Table 3: Foxes again.")
    found = tables(parse(write(tmp_path / "out", sheet)))
    assert {label: table.place.box.y0 for label, table in found.items()} == {
        "Table 1": 50,
        "Table 2": 130,
        "Table 3": 300,
    }
    assert found["Table 2"].caption == "Dogs."


def test_parts_of_one_table_are_one(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.floating((50, 100), kind="table", html=ONE)
    sheet.floating((101, 150), kind="table", html=TWO)
    sheet.text(156, "Table 1: Foxes and dogs.")
    (table,) = tables(parse(write(tmp_path / "out", sheet))).values()
    assert table.grid() == [["Model", "F1"], ["Fox", "91.5"], ["Dog", "90.1"], ["Wild", ""], ["Wolf", "89"]]
    assert table.place.box == Box(60, 50, 290, 150)
    assert table.header_rows == 1
    assert {cell.text: cell.role for cell in table.cells if cell.column == 0} == {
        "Model": "column_header", "Fox": "row_header", "Dog": "row_header", "Wild": "section", "Wolf": "row_header"
    }  # fmt: skip


def test_a_caption_between_two_tables_keeps_them_apart(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.floating((50, 100), kind="table", html=ONE)
    sheet.text(101, "Table 1: Foxes.")
    sheet.floating((112, 150), kind="table", html=TWO)
    sheet.text(152, "Table 2: Dogs.")
    assert set(tables(parse(write(tmp_path / "out", sheet)))) == {"Table 1", "Table 2"}


def test_a_caption_that_was_joined_to_a_paragraph_stands_on_its_own_again(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(40, "1 Yards", kind="title")
    sheet.text(60, "The yard is")
    sheet.floating((50, 100), kind="table", html=ONE, x=RIGHT)
    caption, rest = text_block(106, "Table 1: Foxes.", x=RIGHT), text_block(140, "large.", x=RIGHT)
    sheet.blocks += [caption, rest]
    merged = [caption | {"lines": [], "lines_deleted": True}, rest | {"lines": [], "lines_deleted": True}]
    paper = parse(write(tmp_path / "out", sheet, deleted=merged))
    assert tables(paper)["Table 1"].caption == "Foxes."
    assert passages(paper, "paragraph") == ["The yard is large."]


def test_a_caption_without_a_table_is_a_table_without_cells_and_a_problem(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.text(40, "Table 4: What got lost.")
    paper = parse(write(tmp_path / "out", sheet))
    assert (tables(paper)["Table 4"].cells, tables(paper)["Table 4"].confidence) == ((), 0.0)
    assert ["Table 4: MinerU found nothing" in problem.reason for problem in paper.problems] == [True]


def picture(folder: Path, name: str, size: tuple[int, int] = (40, 20)) -> None:
    (folder / "images").mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "red").save(folder / "images" / name)


def figures(parsed: ParsedPaper) -> list[Figure]:
    return [element for element in parsed.paper.elements if isinstance(element, Figure)]


def test_pictures_become_png_crops_and_panels_one_picture(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.floating((50, 100), kind="image", image="a.jpg", x=(60, 160))
    sheet.floating((50, 100), kind="image", image="b.jpg", x=(180, 280))
    sheet.text(106, "Figure 1: Two foxes.")
    folder = write(tmp_path / "out", sheet)
    picture(folder, "a.jpg")
    picture(folder, "b.jpg")
    parsed = MinerUParser().parse(PaperFile(folder))
    (figure,) = figures(parsed)
    assert figure.place.box == Box(60, 50, 280, 100)
    assert figure.crop is not None
    assert parsed.crops[figure.crop].startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["gone.jpg", "../secret.png", "/etc/passwd", "bad.jpg", ""])
def test_a_picture_that_is_not_there_or_not_inside_is_a_problem(tmp_path: Path, name: str) -> None:
    picture(tmp_path, "secret.png")
    (tmp_path / "images" / "secret.png").rename(tmp_path / "secret.png")
    sheet = Sheet()
    sheet.floating((50, 100), kind="image", image=name)
    folder = write(tmp_path / "out", sheet)
    (folder / "images").mkdir()
    (folder / "images" / "bad.jpg").write_bytes(b"no picture")
    parsed = MinerUParser().parse(PaperFile(folder))
    assert ([figure.crop for figure in figures(parsed)], parsed.crops) == ([None], {})
    assert len(parsed.paper.problems) == 1


def test_version_4_counts_boxes_in_shares_and_names_no_page_sizes(tmp_path: Path) -> None:
    def block(kind: str, y: float, content: Any, **more: Any) -> dict[str, Any]:
        return {"type": kind, "bbox": [0.1, y, 0.5, y + 0.1], "content": content, **more}

    spans = [
        {"type": "text", "content": "The loss"},
        {"type": "equation_inline", "content": "L"},
        {"type": "text", "content": "."},
    ]
    caption = block("table_caption", 0.7, [{"type": "text", "content": "Table 1: Foxes."}])
    blocks = [
        block("doc_title", 0.0, [{"type": "text", "content": "On Foxes"}], level=1),
        block("paragraph_title", 0.1, [{"type": "text", "content": "Methods of Foxes"}], level=2),
        block("text", 0.2, spans),
        block("list", 0.3, [block("text", 0.3, "one"), block("text", 0.4, "two")]),
        block("table", 0.6, [block("table_body", 0.6, ONE), caption]),
        block("header", 0.9, [{"type": "text", "content": "Journal"}]),
    ]  # fmt: skip
    document = {"schema": "docvortex.middle", "schema_version": "2.0", "pages": [{"page_idx": 0, "blocks": blocks}]}
    (tmp_path / "middle_json.json").write_text(json.dumps(document))
    paper = parse(tmp_path)
    assert paper.title == "On Foxes"
    assert [(section.title, section.level) for section in paper.sections] == [("Methods of Foxes", 1)]
    assert passages(paper, "paragraph") == ["The loss $L$."]
    assert passages(paper, "list") == ["one", "two"]
    assert tables(paper)["Table 1"].grid() == [["Model", "F1"], ["Fox", "91.5"]]
    assert tables(paper)["Table 1"].place.box == Box(59.5, 505.1, 297.6, 589.3)
    assert ["no page sizes" in problem.reason for problem in paper.problems] == [True]


def test_a_content_list_alone_is_read_too(tmp_path: Path) -> None:
    items = [
        {"type": "text", "text": "On Foxes", "text_level": 1, "page_idx": 0},
        {"type": "text", "text": "1 Yards", "text_level": 1, "page_idx": 0},
        {"type": "text", "text": "They jump. ", "page_idx": 0},
        {"type": "table", "table_body": ONE, "table_caption": ["Table 1: Foxes."], "page_idx": 1},
    ]
    (tmp_path / "fox_content_list.json").write_text(json.dumps(items))
    paper = parse(tmp_path)
    assert (paper.title, len(paper.pages)) == ("On Foxes", 2)
    assert passages(paper, "paragraph") == ["They jump."]
    assert tables(paper)["Table 1"].shape == (2, 2)


def test_every_kind_of_entry_of_a_content_list_is_read(tmp_path: Path) -> None:
    box = [100, 100, 900, 200]
    items = [
        {"type": "header", "text": "Journal of Foxes", "bbox": box, "page_idx": 0},
        {"type": "text", "text": "1 Yards", "text_level": 1, "bbox": box, "page_idx": 0},
        {"type": "list", "sub_type": "text", "list_items": ["a fence", "a gate"], "bbox": box, "page_idx": 0},
        {"type": "equation", "text": "$$\nE=m \\tag{1}\n$$", "text_format": "latex", "bbox": box, "page_idx": 0},
        {"type": "code", "code_body": "if fox:\n    jump()", "code_caption": ["Listing 1: Jumps."], "page_idx": 0},
        {
            "type": "chart",
            "img_path": "images/a.jpg",
            "chart_caption": ["Figure 1: Foxes."],
            "bbox": box,
            "page_idx": 1,
        },
        {"type": "table", "table_body": ONE, "table_footnote": ["Table 1: Scores."], "bbox": box, "page_idx": 2},
        {"type": "page_footnote", "text": "1 A note.", "bbox": box, "page_idx": 2},
    ]
    picture(tmp_path, "a.jpg")
    (tmp_path / "fox_content_list.json").write_text(json.dumps(items))
    parsed = MinerUParser().parse(PaperFile(tmp_path))
    paper = parsed.paper
    assert [section.path for section in paper.sections] == ["1 Yards"]
    assert passages(paper, "list") == ["a fence", "a gate"]
    assert passages(paper, "footnote") == ["1 A note."]
    assert passages(paper, "furniture") == ["Journal of Foxes"]
    assert passages(paper, "code") == ["if fox:\n    jump()"]
    (equation,) = (element for element in paper.elements if isinstance(element, Equation))
    assert (equation.label, equation.text) == ("Equation 1", "E=m")
    (figure,) = figures(parsed)
    assert (figure.label, figure.caption, figure.crop in parsed.crops) == ("Figure 1", "Foxes.", True)
    assert figure.place.box == Box(59.5, 84.2, 535.8, 168.4)
    assert tables(paper)["Table 1"].caption == "Scores."


@pytest.mark.parametrize(
    ("content", "named"),
    [("{}", "pdf_info"), ('{"pdf_info": 3}', "pdf_info"), ("{", "JSON"), ('{"pdf_info": []}', "no page"),
     ('{"pdf_info": [{"para_blocks": [{"type": 4}]}]}', "pdf_info.0.para_blocks.0.type")],
)  # fmt: skip
def test_an_unknown_shape_names_the_file_and_the_key(tmp_path: Path, content: str, named: str) -> None:
    (tmp_path / "x_middle.json").write_text(content)
    with pytest.raises(PaperFileError) as caught:
        parse(tmp_path)
    assert named in str(caught.value)
    assert "x_middle.json" in str(caught.value)


def test_a_folder_of_mineru_is_one_paper_and_not_a_folder_of_papers(tmp_path: Path) -> None:
    folder = write(tmp_path / "out", Sheet())
    (folder / "paper_origin.pdf").write_bytes(b"%PDF-")
    (tmp_path / "other.pdf").write_bytes(b"%PDF-")
    assert is_mineru_folder(folder)
    assert list(paper_files(folder)) == [folder]
    assert list(paper_files(tmp_path)) == [tmp_path / "other.pdf", folder]


@pytest.mark.slow
def test_the_reference_paper_keeps_every_caption_at_its_table(shared: Path) -> None:
    paper = parse(shared / "papers" / "acl-2020-45" / "mineru")
    found = tables(paper)
    assert sorted(found, key=lambda label: int(label.split()[1])) == [f"Table {number}" for number in range(1, 11)]
    starts = {label: (table.place.page, round(table.place.box.y0)) for label, table in found.items()}
    assert (starts["Table 5"], starts["Table 8"], starts["Table 9"]) == ((6, 62), (8, 61), (8, 155))
    assert [element.label for element in paper.elements if isinstance(element, Equation)] == [
        f"Equation {number}" for number in range(1, 13)
    ]
    assert len(paper.sections) == 27
