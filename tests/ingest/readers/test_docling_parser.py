"""Docling as an engine: what is missing is one clear message, and what the library itself gives is what we read."""

import importlib.util
from pathlib import Path

import pymupdf
import pytest

from ingest.parsers import parser_for
from ingest.pdf import PdfBackend
from ingest.readers import docling as engine
from ingest.readers.docling import Converted, DoclingParser, paper_of_docling
from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Box, Paper, PaperFile, Table
from tests.ingest.readers.docling_documents import DoclingJson, cell

installed = pytest.mark.skipif(
    importlib.util.find_spec("docling") is None, reason='docling is not installed: pip install "paperscope[docling]"'
)


@pytest.fixture
def paper_file(tmp_path: Path) -> Path:
    """A page of 600×800 points with one line of text, and a second one with ink only."""
    file = tmp_path / "fox.pdf"
    with pymupdf.open() as document:
        document.new_page(width=600, height=800).insert_text((60, 110), "The fox jumps.", fontsize=10)
        document.new_page(width=600, height=800).draw_rect((60, 60, 290, 90), fill=(0, 0, 0))
        document.save(file)
    return file


def parser(models: Path, *, max_pages: int | None = None) -> DoclingParser:
    return DoclingParser(models=models, backend=PdfBackend(), ocr=True, seconds=60, dpi=72, max_pages=max_pages)


def test_a_library_that_is_not_installed_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda _: None)
    settings = ParserSettings(engine="docling", docling_models=tmp_path)
    with pytest.raises(SettingsError, match=r'needs docling.*pip install "paperscope\[docling\]"'):
        parser_for(settings, limits=LimitSettings())


@pytest.mark.parametrize(
    ("models", "said"), [(None, "isn't set"), (Path("no-such-folder"), "= 'no-such-folder' is no")]
)
def test_a_folder_of_models_that_is_missing_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, models: Path | None, said: str
) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda _: object())
    with pytest.raises(SettingsError, match=r"parser\.docling_models") as caught:
        parser_for(ParserSettings(engine="docling", docling_models=models), limits=LimitSettings())
    assert said in str(caught.value)


def test_a_file_becomes_a_paper_with_crops_and_a_page_without_text_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, paper_file: Path
) -> None:
    document = DoclingJson(pages=2)
    document.text("text", "The fox jumps.", y=100)
    document.table(200, [cell(0, 0, "a"), cell(0, 1, "1")])
    converted = Converted(document=document.export(), problems=())
    monkeypatch.setattr("ingest.readers.docling.convert", lambda *_, **__: converted)
    parsed = parser(tmp_path).parse(PaperFile(paper_file))
    (table,) = (element for element in parsed.paper.elements if isinstance(element, Table))
    assert table.crop is not None
    assert parsed.crops[table.crop].startswith(b"\x89PNG")
    assert [(problem.page, problem.reason.split(",")[0]) for problem in parsed.paper.problems] == [
        (2, "docling found no text on this page")
    ]


def test_more_pages_than_allowed_are_refused_before_docling_starts(tmp_path: Path, paper_file: Path) -> None:
    with pytest.raises(PaperFileError, match=r"2 pages, over the limit of 1; raise limits\.max_pages"):
        parser(tmp_path, max_pages=1).parse(PaperFile(paper_file))


@installed
@pytest.mark.slow
def test_a_folder_without_the_models_is_an_error_of_the_settings_and_nothing_is_fetched(
    tmp_path: Path, paper_file: Path
) -> None:
    settings = ParserSettings(engine="docling", docling_models=tmp_path)
    with pytest.raises(SettingsError, match=r"docling can't load its models .*not found in artifacts_path.*Fetch them"):
        parser_for(settings, limits=LimitSettings()).parse(PaperFile(paper_file))


@installed
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_the_library_reads_without_models_stands_where_we_read_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, paper_file: Path
) -> None:
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.pipeline_options import NativePdfPipelineOptions
    from docling.document_converter import DocumentConverter, PdfFormatOption
    from docling.pipeline.native_pdf_pipeline import NativePdfPipeline

    option = PdfFormatOption(pipeline_cls=NativePdfPipeline, pipeline_options=NativePdfPipelineOptions())
    converter = DocumentConverter(format_options={InputFormat.PDF: option})
    monkeypatch.setattr(engine, "_converter", lambda *_: converter)
    seen: list[tuple[int, int]] = []
    paper = parser(tmp_path).parse(PaperFile(paper_file), on_page=lambda done, total: seen.append((done, total))).paper
    (line,) = (element for element in paper.elements if element.kind == "passage")
    assert line.text == "The fox jumps."
    assert (line.place.page, round(line.place.box.x0)) == (1, 60)
    assert 95 < line.place.box.y0 < 105 < line.place.box.y1 < 116
    assert [(page.width, page.height) for page in paper.pages] == [(600, 800), (600, 800)]
    assert seen == [(1, 2), (2, 2)]


@installed
@pytest.mark.filterwarnings("ignore")
def test_a_document_of_the_library_keeps_its_structure() -> None:
    paper = paper_of_docling(library_document(), sha256="ab" * 32, file="fox.pdf")
    assert paper.title == "On Foxes"
    assert [section.path for section in paper.sections] == ["1 Data"]
    (table,) = (element for element in paper.elements if isinstance(element, Table))
    assert (table.label, table.caption, table.header_rows) == ("Table 1", "Scores.", 1)
    assert table.grid() == [["Model", "F1"], ["Fox", "90.1"]]
    assert table.cells[0].place.box == Box(10, 210, 50, 220)
    assert kinds(paper) == ["title", "heading", "list", "equation", "table", "figure", "furniture"]


def kinds(paper: Paper) -> list[str]:
    return [element.role if element.kind == "passage" else element.kind for element in paper.elements]


def library_document() -> dict[str, object]:
    from docling_core.types.doc import (
        BoundingBox,
        CoordOrigin,
        DocItemLabel,
        DoclingDocument,
        ProvenanceItem,
        Size,
        TableCell,
        TableData,
    )  # fmt: skip
    from docling_core.types.doc.common.content_layer import ContentLayer

    document = DoclingDocument(name="fox")
    document.add_page(page_no=1, size=Size(width=600, height=800))

    def at(top: float) -> ProvenanceItem:
        box = BoundingBox(l=10, t=800 - top, r=290, b=790 - top, coord_origin=CoordOrigin.BOTTOMLEFT)
        return ProvenanceItem(page_no=1, bbox=box, charspan=(0, 1))

    def slot(row: int, column: int, text: str) -> TableCell:
        box = BoundingBox(l=10 + 50 * column, t=210 + 10 * row, r=50 + 50 * column, b=220 + 10 * row)
        return TableCell(
            bbox=box, text=text, column_header=row == 0, start_row_offset_idx=row, end_row_offset_idx=row + 1,
            start_col_offset_idx=column, end_col_offset_idx=column + 1,
        )  # fmt: skip

    document.add_title("On Foxes", prov=at(10))
    document.add_heading("1 Data", prov=at(30))
    items = document.add_list_group()
    document.add_list_item("one yard", marker="-", parent=items, prov=at(50))
    document.add_text(DocItemLabel.FORMULA, "", orig="E = m (1)", prov=at(70))
    caption = document.add_text(DocItemLabel.CAPTION, "Table 1: Scores.", prov=at(190))
    cells = [slot(0, 0, "Model"), slot(0, 1, "F1"), slot(1, 0, "Fox"), slot(1, 1, "90.1")]
    document.add_table(TableData(table_cells=cells, num_rows=2, num_cols=2), caption=caption, prov=at(210))
    document.add_picture(prov=at(300))
    document.add_text(DocItemLabel.PAGE_FOOTER, "7", prov=at(780), content_layer=ContentLayer.FURNITURE)
    exported: dict[str, object] = document.export_to_dict()
    return exported
