"""`DoclingParser` reads a PDF with docling and converts the result to a `ParsedPaper`.

Docling is imported only when a file is read with it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ingest.document.assembly import paper_id
from ingest.document.crops import add_crops
from ingest.document.pages import Backend, Document, PageContent, PageReadError
from ingest.document.source import check_page_count, publication_in, read_pdf
from ingest.ocr import needs_recognition
from ingest.readers.block_elements import BlockDrafter
from ingest.readers.docling_document import DoclingFile, blocks_of_docling
from ingest.readers.layout_blocks import first_fault
from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.protocols import PageCallback
from paperscope_core.settings import ParserSettings
from paperscope_core.types import (
    UNPUBLISHED,
    Page,
    PageProblem,
    Paper,
    PaperFile,
    ParsedPaper,
    Publication,
    content_hash,
)

if TYPE_CHECKING:
    from docling.document_converter import DocumentConverter

__all__ = ["Converted", "DoclingParser", "find_models", "paper_of_docling"]

_OCR_MODELS = "RapidOcr"
_NO_TEXT = (
    "docling found no text on this page, which has ink; parser.engine = 'paperscope' with the extra ocr reads scans"
)
_OTHER_ENGINE = "or set parser.engine = 'paperscope'."


def find_models(settings: ParserSettings) -> Path:
    """Return the folder of docling's models. Raise `SettingsError` if it, or docling, is missing."""
    if find_spec("docling") is None:
        raise SettingsError(
            "parser.engine = 'docling' needs docling, which isn't installed. Install it with "
            f'pip install "paperscope[docling]", {_OTHER_ENGINE}'
        )
    models = settings.docling_models
    if models is None or not models.is_dir():
        missing = "isn't set" if models is None else f"= {str(models)!r} is no folder"
        raise SettingsError(
            f"parser.engine = 'docling' reads its models from parser.docling_models, which {missing}. Fetch them with "
            "docling-tools models download layout tableformer --output-dir FOLDER, and name that folder, "
            f"{_OTHER_ENGINE}"
        )
    return models.absolute()


@dataclass(frozen=True, kw_only=True, slots=True)
class DoclingParser:
    """Reads papers from PDF files with docling.

    Attributes:
        models: The folder of docling's models; no others are used, and none are downloaded.
        backend: Opens the file as well, to render the crops.
        ocr: Recognises text, if the folder has models for that.
        seconds: After this time docling stops, and the pages that it has read are the paper.
        dpi: The resolution of the crops.
        max_pages: Files with more pages are refused.
    """

    models: Path
    backend: Backend
    ocr: bool
    seconds: float
    dpi: int
    max_pages: int | None = None

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """See `Parser.parse`; also raise `SettingsError` if the models can't be loaded."""
        data = read_pdf(file)
        with self.backend.open(data, name=file.name, password=file.password) as document:
            check_page_count(document.page_count, limit=self.max_pages, name=file.name)
            options = _Options(
                models=self.models,
                ocr=self.ocr and (self.models / _OCR_MODELS).is_dir(),
                seconds=self.seconds,
                password=file.password,
            )
            converted = convert(data, options, name=file.name, on_page=on_page)
            paper = paper_of_docling(
                converted.document,
                sha256=file.sha256 or content_hash(data),
                file=file.name,
                problems=converted.problems,
                stated=publication_in(document.metadata),
            )
            views = _readable_pages(document)
            problems = sorted((*paper.problems, *_pages_without_text(paper, views)), key=lambda problem: problem.page)
            return add_crops(replace(paper, problems=tuple(problems)), document, views=views, dpi=self.dpi)


@dataclass(frozen=True, kw_only=True, slots=True)
class Converted:
    """A document in docling's JSON format, and the problems that docling reports."""

    document: Mapping[str, object]
    problems: tuple[PageProblem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Options:
    models: Path
    ocr: bool
    seconds: float
    password: str | None


def convert(data: bytes, options: _Options, *, name: str, on_page: PageCallback | None) -> Converted:
    """Read a PDF with docling.

    Raises:
        PaperFileError: Docling can't read the file.
        SettingsError: The models can't be loaded.
    """
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    converter = _converter(options)

    def report_progress(event: object) -> None:
        done, total = getattr(event, "completed_pages", None), getattr(event, "total_pages", None)
        if on_page and isinstance(done, int) and isinstance(total, int):
            on_page(done, total)

    stream = DocumentStream(name="paper.pdf", stream=BytesIO(data))
    result = converter.convert(stream, raises_on_error=False, progress_callback=report_progress)
    if result.status not in (ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS):
        reason = _first_line("; ".join(error.error_message for error in result.errors))
        raise PaperFileError(
            f"{name!r}: docling can't read it: {reason}. Fetch the file again, or set parser.engine = 'paperscope'."
        )
    problems = (
        PageProblem(page=error.page_no or 1, reason=f"docling: {_first_line(error.error_message)}")
        for error in result.errors
    )
    return Converted(document=result.document.export_to_dict(), problems=tuple(dict.fromkeys(problems)))


@lru_cache(maxsize=1)
def _converter(options: _Options) -> "DocumentConverter":
    """Return docling with its models loaded; cached, since loading takes longer than reading a short paper."""
    from docling.datamodel.backend_options import PdfBackendOptions
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.pipeline_options import PdfPipelineOptions, RapidOcrOptions
    from docling.document_converter import DocumentConverter, PdfFormatOption
    from pydantic import SecretStr

    pipeline = PdfPipelineOptions(
        artifacts_path=options.models,
        do_ocr=options.ocr,
        ocr_options=RapidOcrOptions(),
        document_timeout=options.seconds,
        enable_remote_services=False,
        allow_external_plugins=False,
    )
    backend = PdfBackendOptions(password=SecretStr(options.password) if options.password is not None else None)
    option = PdfFormatOption(pipeline_options=pipeline, backend_options=backend)
    converter = DocumentConverter(allowed_formats=[InputFormat.PDF], format_options={InputFormat.PDF: option})
    try:
        converter.initialize_pipeline(InputFormat.PDF)
    except (OSError, RuntimeError, ValueError, KeyError, ImportError) as error:
        raise SettingsError(
            f"parser.docling_models = {str(options.models)!r}: docling can't load its models from there "
            f"({_first_line(str(error))}). Fetch them with docling-tools models download layout tableformer "
            "--output-dir FOLDER, and name that folder."
        ) from error
    return converter


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or ["it gives no reason"])[0].rstrip(".")


def paper_of_docling(
    document: Mapping[str, object],
    *,
    sha256: str,
    file: str,
    problems: tuple[PageProblem, ...] = (),
    stated: Publication = UNPUBLISHED,
) -> Paper:
    """Return the paper, without crops, of a DoclingDocument in JSON. Raise `PaperFileError` for any other JSON."""
    try:
        read = DoclingFile.model_validate(document)
    except ValidationError as error:
        raise PaperFileError(
            f"{file!r}: {first_fault(error)}; it is no DoclingDocument that Paperscope knows (1.x)"
        ) from error
    if not read.pages:
        raise PaperFileError(f"{file!r}: docling found no page in it. Fetch the file again.")
    pages = tuple(
        Page(number=number, width=round(page.size.width, 1), height=round(page.size.height, 1))
        for number, page in sorted(read.pages.items())
    )
    drafted = BlockDrafter(blocks_of_docling(read, pages, paper=paper_id(sha256)), pages, engine="docling")
    return drafted.paper(sha256=sha256, file=file, problems=problems, stated=stated)


def _readable_pages(document: Document) -> Sequence[PageContent]:
    pages: list[PageContent] = []
    for number in range(1, document.page_count + 1):
        # Docling's text of the page is kept; `add_crops` reports that the page can't be rendered.
        with suppress(PageReadError):
            pages.append(document.read(number))
    return pages


def _pages_without_text(paper: Paper, pages: Sequence[PageContent]) -> list[PageProblem]:
    """Return a problem for each page with ink on which docling found no text."""
    with_text = {element.place.page for element in paper.elements if element.kind != "figure"}
    return [
        PageProblem(page=page.number, reason=_NO_TEXT, kind="text")
        for page in pages
        if page.number not in with_text and needs_recognition(page)
    ]
