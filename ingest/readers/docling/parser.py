"""`DoclingParser`: docling reads a PDF, and what it finds becomes a `ParsedPaper`."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ingest.document.assembly import assemble_paper, paper_id
from ingest.document.authors import author_names
from ingest.document.crops import add_crops
from ingest.document.pages import Backend, Document, PageContent, PageReadError
from ingest.document.source import read_pdf
from ingest.ocr import needs_recognition
from ingest.pdf import backend_for
from ingest.readers.docling.elements import Places, draft_nodes
from ingest.readers.docling.schema import DoclingFile
from ingest.sandbox.isolated_parser import IsolatedParser
from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.protocols import Parser
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import PageProblem, Paper, ParsedPaper

if TYPE_CHECKING:
    from docling.document_converter import DocumentConverter


__all__ = ["Converted", "DoclingParser", "convert", "docling_for", "paper_of_docling"]


_OCR_MODELS = "RapidOcr"


@dataclass(frozen=True, kw_only=True, slots=True)
class Converted:
    """A document in docling's JSON shape, and what docling says that it could not read."""

    document: Mapping[str, object]
    problems: tuple[PageProblem, ...]


def convert(
    data: bytes,
    *,
    name: str,
    models: Path,
    ocr: bool,
    seconds: float,
    password: str | None,
    on_page: Callable[[int, int], None] | None,
) -> Converted:
    """Read a PDF with the models in the folder `models`; no other is used, and none is fetched.

    Text is recognised where `ocr` is set and the folder has models for that. After `seconds` docling stops, and the
    pages that it has read are the paper. Raises `SettingsError` for a folder without the models, `PaperFileError` for
    a file that docling can't read.
    """
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    converter = _converter(models, ocr and (models / _OCR_MODELS).is_dir(), seconds, password)

    def progress(event: object) -> None:
        done, total = getattr(event, "completed_pages", None), getattr(event, "total_pages", None)
        if on_page and isinstance(done, int) and isinstance(total, int):
            on_page(done, total)

    stream = DocumentStream(name="paper.pdf", stream=BytesIO(data))
    result = converter.convert(stream, raises_on_error=False, progress_callback=progress)
    if result.status not in (ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS):
        why = _first_line("; ".join(error.error_message for error in result.errors))
        raise PaperFileError(
            f"{name!r}: docling can't read it: {why}. Fetch the file again, or set parser.engine = 'paperscope'."
        )
    problems = (
        PageProblem(page=error.page_no or 1, reason=f"docling: {_first_line(error.error_message)}")
        for error in result.errors
    )
    return Converted(document=result.document.export_to_dict(), problems=tuple(dict.fromkeys(problems)))


@lru_cache(maxsize=1)
def _converter(models: Path, ocr: bool, seconds: float, password: str | None) -> "DocumentConverter":
    """Docling with its models loaded, which takes longer than many a paper."""
    from docling.datamodel.backend_options import PdfBackendOptions
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.pipeline_options import PdfPipelineOptions, RapidOcrOptions
    from docling.document_converter import DocumentConverter, PdfFormatOption
    from pydantic import SecretStr

    options = PdfPipelineOptions(
        artifacts_path=models,
        do_ocr=ocr,
        ocr_options=RapidOcrOptions(),
        document_timeout=seconds,
        enable_remote_services=False,
        allow_external_plugins=False,
    )
    backend = PdfBackendOptions(password=SecretStr(password) if password is not None else None)
    option = PdfFormatOption(pipeline_options=options, backend_options=backend)
    converter = DocumentConverter(allowed_formats=[InputFormat.PDF], format_options={InputFormat.PDF: option})
    try:
        converter.initialize_pipeline(InputFormat.PDF)
    except (OSError, RuntimeError, ValueError, KeyError, ImportError) as error:
        raise SettingsError(
            f"parser.docling_models = {str(models)!r}: docling can't load its models from there "
            f"({_first_line(str(error))}). Fetch them with docling-tools models download layout tableformer "
            "--output-dir FOLDER, and name that folder."
        ) from error
    return converter


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or ["it gives no reason"])[0].rstrip(".")


_NO_TEXT = (
    "docling found no text on this page, which has ink; parser.engine = 'paperscope' with the extra ocr reads scans"
)


class DoclingParser:
    """Reads papers from PDF files with docling and the models in the folder `models`.

    `backend` opens the file too, for the pictures of tables, figures and equations, at `dpi`.
    """

    def __init__(
        self, *, models: Path, backend: Backend, ocr: bool, seconds: float, dpi: int, max_pages: int | None = None
    ) -> None:
        self._models = models
        self._backend = backend
        self._ocr = ocr
        self._seconds = seconds
        self._dpi = dpi
        self._max_pages = max_pages

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`; raises `SettingsError` as well, where the models can't be loaded."""
        data = read_pdf(file)
        with self._backend.open(data, name=file.name, password=password) as document:
            count = document.page_count
            if self._max_pages is not None and count > self._max_pages:
                raise PaperFileError(
                    f"{file.name!r} has {count} pages, over the limit of {self._max_pages}; raise limits.max_pages to "
                    "add it."
                )
            converted = convert(
                data,
                name=file.name,
                models=self._models,
                ocr=self._ocr,
                seconds=self._seconds,
                password=password,
                on_page=on_page,
            )
            paper = paper_of_docling(
                converted.document,
                sha256=hashlib.sha256(data).hexdigest(),
                file=file.name,
                problems=converted.problems,
            )
            views = _views(document)
            paper = replace(paper, problems=tuple(sorted((*paper.problems, *_wordless(paper, views)), key=_page)))
            return add_crops(paper, document, views=views, dpi=self._dpi)


def paper_of_docling(
    document: Mapping[str, object], *, sha256: str, file: str, problems: tuple[PageProblem, ...] = ()
) -> Paper:
    """The paper, without crops, in a DoclingDocument's JSON shape. Raises `PaperFileError` for another shape."""
    try:
        read = DoclingFile.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise PaperFileError(
            f"{file!r}: {key}: {first['msg']}; it is no DoclingDocument that Paperscope knows (1.x)"
        ) from error
    if not read.pages:
        raise PaperFileError(f"{file!r}: docling found no page in it. Fetch the file again.")
    places = Places(read, paper=paper_id(sha256))
    drafted = draft_nodes(read, places)
    return assemble_paper(
        drafted.drafts,
        sha256=sha256,
        file=file,
        title=drafted.title or file,
        authors=author_names(drafted.authors, metadata=""),
        pages=places.pages,
        problems=(*problems, *drafted.problems),
        format="pdf",
    )


def _views(document: Document) -> Sequence[PageContent]:
    """The pages that can be read."""
    views: list[PageContent] = []
    for number in range(1, document.page_count + 1):
        try:
            views.append(document.read(number))
        except PageReadError:
            # What docling made of the page stands; that it can't be drawn either is told with the crops.
            continue
    return views


def _wordless(paper: Paper, views: Sequence[PageContent]) -> list[PageProblem]:
    """A problem for each page with ink on which docling found no text."""
    worded = {element.place.page for element in paper.elements if element.kind != "figure"}
    return [
        PageProblem(page=view.number, reason=_NO_TEXT)
        for view in views
        if view.number not in worded and needs_recognition(view)
    ]


def _page(problem: PageProblem) -> int:
    return problem.page


_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
_OR_OURS = "or set parser.engine = 'paperscope'."


def docling_for(settings: ParserSettings, *, limits: LimitSettings) -> Parser:
    """The parser of PDF files with docling. Raises `SettingsError` where it or the folder of its models is missing."""
    if find_spec("docling") is None:
        raise SettingsError(
            "parser.engine = 'docling' needs docling, which isn't installed. Install it with "
            f'pip install "paperscope[docling]", {_OR_OURS}'
        )
    models = settings.docling_models
    if models is None or not models.is_dir():
        missing = "isn't set" if models is None else f"= {str(models)!r} is no folder"
        raise SettingsError(
            f"parser.engine = 'docling' reads its models from parser.docling_models, which {missing}. Fetch them with "
            f"docling-tools models download layout tableformer --output-dir FOLDER, and name that folder, {_OR_OURS}"
        )
    parser = DoclingParser(
        models=models.absolute(),
        backend=backend_for(settings.backend),
        ocr=settings.ocr == "auto" and find_spec("onnxruntime") is not None,
        seconds=limits.engine_seconds,
        dpi=settings.dpi,
        max_pages=limits.max_pages,
    )
    return IsolatedParser(
        parser, seconds=limits.engine_seconds, memory_mb=None, setting="limits.engine_seconds", environment=_OFFLINE
    )
