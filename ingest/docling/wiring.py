"""Docling as the settings ask for it, in a process of its own."""

from importlib.util import find_spec

from ingest.docling.parser import DoclingParser
from ingest.isolated import IsolatedParser
from ingest.pdf import backend_for
from paperscope.errors import SettingsError
from paperscope.protocols import Parser
from paperscope.settings import LimitSettings, ParserSettings

__all__ = ["docling_for"]

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
