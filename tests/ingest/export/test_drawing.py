"""Boxes over the pictures of pages: at their places, in their colours, for every file that has pages."""

import io
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from ingest.export import LEGEND, Mark, draw_marks, page_marks, write_paper
from ingest.export.drawing import overlay_names
from ingest.page_images import open_page_images
from ingest.pdf import PdfParser
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box, Page, Paper, PaperFile, ParsedPaper, Passage, Place
from tests.ingest.export.sample_papers import PLACE, paper_of, whole_paper

RED = (255, 0, 0)


def blank(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (255, 255, 255)).save(out, format="PNG")
    return out.getvalue()


def shown(picture: bytes) -> Image.Image:
    return Image.open(io.BytesIO(picture)).convert("RGB")


def test_a_box_is_drawn_where_it_stands_whatever_the_scale() -> None:
    image = shown(draw_marks(blank(800, 400), [Mark(box=Box(100, 50, 200, 150), color=RED)], width=400))
    assert image.size == (800, 400)
    assert image.getpixel((200, 200)) == RED
    assert image.getpixel((300, 200)) not in (RED, (255, 255, 255))
    assert image.getpixel((190, 200)) == image.getpixel((410, 200)) == (255, 255, 255)


def test_a_fine_box_leaves_its_inside_alone() -> None:
    image = shown(draw_marks(blank(400, 400), [Mark(box=Box(100, 100, 200, 200), color=RED, fine=True)], width=400))
    assert image.getpixel((100, 150)) == RED
    assert image.getpixel((150, 150)) == (255, 255, 255)


@pytest.mark.parametrize("box", [Box(-50, -50, 900, 900), Box(200, 200, 100, 100), Box(900, 900, 950, 950)])
def test_a_box_off_the_page_is_cut_to_it(box: Box) -> None:
    mark = Mark(box=box, color=RED, label="a label")
    assert shown(draw_marks(blank(400, 400), [mark], width=400)).size == (400, 400)


def test_the_legend_stands_below_the_page() -> None:
    image = shown(draw_marks(blank(300, 300), [], width=300, legend=LEGEND))
    assert image.width == 300
    assert image.height > 320
    colors = {color for _, color in image.getcolors(maxcolors=100_000) or ()}
    assert set(LEGEND.values()) <= colors


def test_the_marks_of_a_page_are_its_elements_in_reading_order() -> None:
    paper = whole_paper().paper
    labels = [mark.label for mark in page_marks(paper, 1) if not mark.fine]
    assert labels[2:5] == ["3", "4", "5"]
    assert "8 Table 5" in labels
    assert "7 Listing 1" in labels
    assert labels[-2:] == ["", "12"]
    assert page_marks(paper, 2) == []


def test_what_goes_on_elsewhere_is_marked_there() -> None:
    elsewhere = Place(paper="p", page=2, box=Box(1, 1, 2, 2))
    passage = Passage(id="p/passage-1", place=PLACE, order=0, text="a", more_places=(elsewhere,))
    assert [mark.label for mark in page_marks(paper_of(passage), 2)] == ["…1"]


@pytest.mark.parametrize(("count", "last"), [(1, "overlay/page-01.png"), (120, "overlay/page-120.png")])
def test_pages_are_named_so_that_they_sort(count: int, last: str) -> None:
    pages = tuple(Page(number=number, width=1.0, height=1.0) for number in range(1, count + 1))
    paper = Paper(id="p", title="", authors=(), sha256="", file="", pages=pages, sections=(), elements=())
    names = list(overlay_names(paper).values())
    assert names == sorted(names)
    assert names[-1] == last


@pytest.fixture
def small_pdf(tmp_path: Path) -> Path:
    file = tmp_path / "small.pdf"
    document = pymupdf.open()
    for _ in range(2):
        document.new_page(width=200, height=300).insert_text((20, 50), "A few words.")
    document.save(file)
    return file


def test_every_page_of_a_pdf_is_drawn(small_pdf: Path, tmp_path: Path) -> None:
    parsed = PdfParser(dpi=36).parse(PaperFile(small_pdf))
    with open_page_images(PaperFile(small_pdf), parsed.paper) as render:
        written = write_paper(parsed, tmp_path / "out", formats=["json"], render=render)
    assert written.files == ("paper.json", "overlay/page-01.png", "overlay/page-02.png")
    image = shown((tmp_path / "out" / "overlay" / "page-02.png").read_bytes())
    page = image.crop((0, 0, image.width, image.width * 300 // 200))
    assert {color for _, color in page.getcolors(maxcolors=100_000) or ()} & set(LEGEND.values())


def test_a_page_that_cannot_be_drawn_is_named_and_the_others_are_kept(small_pdf: Path, tmp_path: Path) -> None:
    def render(page: Page, _dpi: int) -> bytes:
        if page.number == 2:
            raise PaperFileError("page 2 can't be drawn")
        return blank(200, 300)

    parsed = PdfParser(dpi=36).parse(PaperFile(small_pdf))
    written = write_paper(parsed, tmp_path / "out", formats=["json"], render=render)
    assert written.files == ("paper.json", "overlay/page-01.png")
    assert [problem.page for problem in written.problems] == [2]


def test_the_picture_of_an_image_file_has_the_size_of_its_page(tmp_path: Path) -> None:
    file = tmp_path / "scan.png"
    file.write_bytes(blank(1000, 500))
    paper = replace(paper_of(), format="image")
    with open_page_images(PaperFile(file), paper) as render:
        assert shown(render(paper.pages[0], 72)).size == (400, 600)
        with pytest.raises(PaperFileError, match=r"page 2 of 'scan\.png' can't be drawn"):
            render(replace(paper.pages[0], number=2), 72)
    file.write_bytes(b"no image")
    with pytest.raises(PaperFileError, match=r"'scan\.png' is no picture"), open_page_images(PaperFile(file), paper):
        pass


def test_a_text_has_no_pages_to_look_at(tmp_path: Path) -> None:
    paper = replace(paper_of(), format="markdown")
    assert not paper.has_page_images
    with (
        pytest.raises(PaperFileError, match="has no pages to look at"),
        open_page_images(PaperFile(tmp_path / "a.md"), paper),
    ):
        pass


def test_a_parsed_paper_needs_no_pictures(tmp_path: Path) -> None:
    assert write_paper(ParsedPaper(paper=paper_of()), tmp_path, formats=["json"]).files == ("paper.json",)
