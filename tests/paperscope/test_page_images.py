"""Pictures of pages with marked places; a malicious page harms only a child process."""

import io
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image

from ingest.page_images import PageRenderer
from paperscope.library import Library
from paperscope_core.errors import InputError, NotFoundError, PaperFileError, UnknownPaperError
from paperscope_core.settings import LimitSettings, load_settings
from paperscope_core.types import Box, PaperFile, Place, Table
from tests.paperscope.test_adding import write_pdf

MARK = (216, 84, 0)


@pytest.fixture(scope="module")
def library(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = Path(shutil.copytree(example_library, tmp_path_factory.mktemp("pages") / "library"))
    # A busy machine draws late.
    settings = load_settings(environ={}, overrides={"parser.ocr": "off", "limits.parse_seconds": 60})
    with Library.open(folder, settings=settings) as opened:
        yield opened


def shown(picture: bytes) -> Image.Image:
    with Image.open(io.BytesIO(picture)) as image:
        assert image.format == "PNG"
        return image.convert("RGB")


def frames(picture: bytes) -> set[tuple[int, int]]:
    """Where the pixels of a mark's frame are."""
    rows, columns = np.nonzero((np.asarray(shown(picture)) == MARK).all(axis=2))
    return set(zip(columns.tolist(), rows.tolist(), strict=True))


@pytest.mark.slow
def test_a_page_is_drawn_with_its_marks(library: Library, root: Path) -> None:
    paper = library.add(root / "examples/paper/ner-report.pdf").paper
    table = next(element for element in paper.elements if isinstance(element, Table))
    page = table.place.page
    plain = library.page_picture(paper.id, page, dpi=72)
    assert shown(plain).size == pytest.approx((paper.pages[page - 1].width, paper.pages[page - 1].height), abs=1)
    assert not frames(plain)
    marked = frames(library.page_picture(paper.id, page, dpi=72, marked=[table.id]))
    for x, y in (table.place.box[:2], table.place.box[2:]):
        assert any(abs(x - left) <= 1 and abs(y - top) <= 1 for left, top in marked)
    cell = table.cells[0].place
    elsewhere = Place(paper=paper.id, page=page + 1, box=cell.box)
    foreign = Place(paper="another", page=page, box=cell.box)
    assert library.page_picture(paper.id, page, dpi=72, marked=[elsewhere, foreign]) == plain
    one = library.page_picture(paper.id, page, dpi=72, marked=[cell])
    assert one == library.page_picture(paper.id, page, dpi=72, marked=[cell.box, cell])
    assert frames(one)


@pytest.mark.slow
def test_the_evidence_of_an_answer_can_be_marked(library: Library, root: Path) -> None:
    library.add(root / "examples/paper/ner-report.pdf")
    answer = library.ask("What is the highest F1 in Table 2?")
    places = [evidence.place for claim in answer.claims for evidence in claim.evidence]
    assert places
    assert frames(library.page_picture(places[0].paper, places[0].page, dpi=72, marked=places))


def test_unknown_papers_pages_and_elements_are_errors(library: Library, tmp_path: Path) -> None:
    paper = library.add(write_pdf(tmp_path / "a.pdf", "Taggers are compared.")).paper
    with pytest.raises(UnknownPaperError):
        library.page_picture("nothing", 1)
    for page in (0, 2, -1):
        with pytest.raises(InputError, match=rf"'a\.pdf' has no page {page}; ask for 1 to 1"):
            library.page_picture(paper.id, page)
    for dpi in (0, 17, 601, 10**9):
        with pytest.raises(InputError, match=f"dpi = {dpi} is out of bounds; ask for 18 to 600"):
            library.page_picture(paper.id, 1, dpi=dpi)
    with pytest.raises(NotFoundError, match="no 'table-1' in paper 'x'"):
        library.page_picture(paper.id, 1, marked=["x/table-1"])
    (tmp_path / "a.pdf").unlink()
    with pytest.raises(PaperFileError, match="no longer where it was added from"):
        library.page_picture(paper.id, 1)


def test_a_text_has_no_pages(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# Taggers\n\nThey are compared.\n")
    with pytest.raises(PaperFileError, match=r"'a\.md' has no pages to look at: it is markdown"):
        library.page_picture(library.add(file).paper.id, 1)


@pytest.mark.slow
def test_a_scan_has_a_page(library: Library, tmp_path: Path) -> None:
    Image.new("RGB", (850, 1100), "white").save(tmp_path / "scan.png", dpi=(100, 100))
    paper = library.add(tmp_path / "scan.png").paper
    assert frames(library.page_picture(paper.id, 1, dpi=72, marked=[Box(10, 10, 100, 100)]))


def test_a_huge_page_is_drawn_small(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "huge.pdf"
    document = pymupdf.open()
    document.new_page(width=14_400, height=14_400).insert_text((72, 400), "Taggers are compared.", fontsize=300)
    document.save(file)
    image = shown(library.page_picture(library.add(file).paper.id, 1, dpi=600))
    assert 4_000 < image.width == image.height <= 4_473


@pytest.mark.slow
def test_drawing_a_page_times_out_and_the_next_page_is_drawn(library: Library, tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "many.pdf", "Taggers are compared.")
    document = pymupdf.open(file)
    shape = document[0].new_shape()
    for number in range(6_000):
        shape.draw_bezier((0, number % 800), (600, 0), (0, 800), (600, number * 7 % 800))
    shape.finish(width=3, stroke_opacity=0.5)
    shape.commit()
    document.save(tmp_path / "slow.pdf")
    hasty = PageRenderer(LimitSettings(parse_seconds=0.2))
    paper = library.add(file).paper
    with pytest.raises(PaperFileError, match=r"page 1 of 'many\.pdf' can't be drawn: it took longer than 0\.2 seconds"):
        hasty.draw(PaperFile(tmp_path / "slow.pdf"), paper, 1, dpi=600)
    patient = PageRenderer(LimitSettings(parse_seconds=60))
    assert shown(patient.draw(PaperFile(file), paper, 1, dpi=72)).height == 842


def test_a_picture_of_too_many_pixels_is_not_drawn(library: Library, tmp_path: Path) -> None:
    paper = library.add(write_pdf(tmp_path / "a.pdf", "Taggers are compared.")).paper
    Image.new("1", (30_000, 30_000)).save(tmp_path / "bloat.png")
    with pytest.raises(PaperFileError, match=r"'bloat\.png' has too many pixels"):
        PageRenderer(LimitSettings(parse_seconds=60)).draw(
            PaperFile(tmp_path / "bloat.png"), replace(paper, format="image"), 1, dpi=72
        )
