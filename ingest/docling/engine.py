"""Docling itself: a PDF's bytes to its JSON. The library is imported only when a file is read with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from paperscope.errors import PaperFileError, SettingsError
from paperscope.types import PageProblem

if TYPE_CHECKING:
    from docling.document_converter import DocumentConverter

__all__ = ["Converted", "convert"]

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
