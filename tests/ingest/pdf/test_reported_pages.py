"""Pages on which other products were reported to fail, in `shared/cases`, are read as their README says."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.ocr import OcrBackend, recognition_for
from ingest.pdf import PdfBackend, PdfParser
from paperscope_core.types import Figure, Paper, PaperFile, Passage, Reference, Table


@pytest.fixture(scope="module")
def read(shared: Path) -> Callable[[str], Paper]:
    folder = shared / "cases"
    if not folder.is_dir():
        pytest.skip("the reported cases are missing (a folder 'cases' in 'shared')")
    return lambda name: PdfParser(dpi=20).parse(PaperFile(folder / name)).paper


def text_of(paper: Paper) -> str:
    return "\n".join(
        one.text
        for one in paper.elements
        if isinstance(one, Reference) or (isinstance(one, Passage) and one.role != "furniture")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "paper"), [("science2004-p1", "Grenfell_et_al_2004.pdf"), ("science2014-p1", "Gire_et_al_2014.pdf")]
)
def test_three_columns_are_not_read_across(shared: Path, read: Callable[[str], Paper], page: str, paper: str) -> None:
    order = shared / "papers" / "fields" / "order.jsonl"
    if not order.is_file():
        pytest.skip("the order of the pages is missing ('papers/fields' in 'shared')")
    pages = map(json.loads, order.read_text().splitlines())
    starts = next(each["starts"] for each in pages if (each["paper"], each["page"]) == (paper, 1))
    text = re.sub(r"\W", "", text_of(read(f"pdf/three-columns-interleaved_{page}.pdf"))).casefold()
    at = 0
    for start in starts:
        found = text.find(re.sub(r"\W", "", start).casefold(), at)
        assert found >= at, start
        at = found


@pytest.mark.slow
def test_two_figures_with_a_caption_between_them_are_their_own_pictures(read: Callable[[str], Paper]) -> None:
    figures = [one for one in read("pdf/figures-3-4_science2017.pdf").elements if isinstance(one, Figure)]
    third, fourth = (next(one.place.box for one in figures if one.label == f"Figure {number}") for number in (3, 4))
    assert third.y1 < 370
    assert fourth.y0 > 430
    assert fourth.y1 < 690
    assert third.x0 < 60
    assert third.x1 > 450


@pytest.mark.slow
def test_an_equation_is_not_a_title(read: Callable[[str], Paper]) -> None:
    paper = read("pdf/title-from-equation_casimir-p1.pdf")
    assert paper.title.startswith("On the attraction between two perfectly conducting")


@pytest.mark.parametrize(("name", "caption"), [("de", "Ertrag je Parzelle"), ("fr", "Rendement par parcelle")])
def test_a_caption_in_another_language(read: Callable[[str], Paper], name: str, caption: str) -> None:
    (table,) = (one for one in read(f"not-english/book_{name}.pdf").elements if isinstance(one, Table))
    assert (table.label, table.caption) == ("Table 1", caption)


def test_hebrew_is_in_the_order_in_which_it_is_read(read: Callable[[str], Paper]) -> None:
    paper = read("rtl-pdf/heb_chrome.pdf")
    assert paper.title == "מבוא"
    assert "נמדדה לחות הקרקע בעשרים ושלוש חלקות (Soil2Vec) בדיוק של 91.2% בשנת 2024." in text_of(paper)


@pytest.mark.slow
@pytest.mark.usefixtures("read")
def test_a_scan_on_its_head_is_turned_and_read(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rapidocr", reason="the extra ocr is not installed")
    # At half the resolution, which takes a quarter of the time.
    monkeypatch.setattr("ingest.ocr.backend._LONGEST_SIDE", 1170)
    file = shared / "cases" / "scan-rotated" / "ocr_test_rotated_180.pdf"
    recognising = OcrBackend(PdfBackend(), recognition_for("auto"))
    paper = PdfParser(dpi=20, backend=recognising).parse(PaperFile(file)).paper
    text = " ".join(text_of(paper).split())
    assert text == "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained package"
