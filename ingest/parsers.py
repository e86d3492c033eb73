"""Selects the parser of a file by its format, and limits the resources that an untrusted file may use."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from importlib.util import find_spec

from ingest.document.source import read_file
from ingest.formats import content_file, format_of
from ingest.ocr import OcrBackend, recognition_for
from ingest.pdf import PdfBackend, PdfParser
from ingest.pdf.parser import read_document
from ingest.readers.docling import DoclingParser, find_models
from ingest.readers.image_files import ImageParser
from ingest.readers.markup import markup_parsers
from ingest.readers.mineru import MinerUParser
from ingest.readers.mineru_command import MinerUCommandParser
from ingest.sandbox.isolated_parser import IsolatedParser
from paperscope_core.errors import PaperFileError
from paperscope_core.protocols import PageCallback, Parser
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import PaperFile, PaperFormat, ParsedPaper, content_hash

__all__ = ["check_bytes", "parser_for", "read_once", "read_paper"]

# An untrusted file may cause any error in the parser; that must not stop other files.
_UNFORESEEN = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


class _FileParser:
    """Passes a file or folder to the parser of its format."""

    def __init__(self, parsers: Mapping[PaperFormat, Parser]) -> None:
        self._parsers = parsers

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        return self._parsers[format_of(file)].parse(file, on_page=on_page)


def parser_for(settings: ParserSettings, *, limits: LimitSettings) -> Parser:
    """Return the parser of all formats. Raise `SettingsError` if a library that the settings name is missing."""
    return _FileParser(_isolated_parsers(settings, limits))


@lru_cache(maxsize=1)
def _isolated_parsers(settings: ParserSettings, limits: LimitSettings) -> Mapping[PaperFormat, Parser]:
    """Return the parsers that share child processes over all files read with the same settings."""
    image = ImageParser(
        read_document, recognition=recognition_for(settings.ocr), dpi=settings.dpi, max_pages=limits.max_pages
    )
    markup = markup_parsers(max_pages=limits.max_pages)
    texts = dict.fromkeys(markup, _isolated(_FileParser(markup), limits))
    mineru = _isolated(MinerUParser(max_pages=limits.max_pages), limits)
    return {"pdf": _pdf_parser(settings, limits), "image": _isolated(image, limits), "mineru": mineru, **texts}


def _pdf_parser(settings: ParserSettings, limits: LimitSettings) -> Parser:
    if settings.engine == "docling":
        return _docling_parser(settings, limits)
    if settings.engine == "mineru":
        return MinerUCommandParser(
            settings.mineru_command,
            seconds=limits.engine_seconds,
            max_pages=limits.max_pages,
            isolated=partial(_isolated, limits=limits),
        )
    parser = PdfParser(
        dpi=settings.dpi,
        backend=OcrBackend(PdfBackend(), recognition_for(settings.ocr)),
        max_pages=limits.max_pages,
    )
    return _isolated(parser, limits)


def _docling_parser(settings: ParserSettings, limits: LimitSettings) -> Parser:
    parser = DoclingParser(
        models=find_models(settings),
        backend=PdfBackend(),
        ocr=settings.ocr == "auto" and find_spec("onnxruntime") is not None,
        seconds=limits.engine_seconds,
        dpi=settings.dpi,
        max_pages=limits.max_pages,
    )
    return IsolatedParser(parser, seconds=limits.engine_seconds, memory_mb=None, environment=_OFFLINE)


def _isolated(parser: Parser, limits: LimitSettings) -> Parser:
    return IsolatedParser(parser, seconds=limits.parse_seconds, memory_mb=limits.parse_memory_mb)


def read_once(file: PaperFile, *, max_mb: int, name: str = "") -> PaperFile:
    """Return a file with its content and the hash of it: what is hashed is then what is parsed.

    Args:
        file: The file or folder. Content that was read before is kept.
        name: The name that messages quote; "" for the file's own.

    Raises:
        PaperFileError: The file can't be read, is empty or too large, or the folder is not one of MinerU.
    """
    shown = name or file.name
    if file.content is None:
        found = content_file(file.path)
        try:
            check_bytes(found.stat().st_size, max_mb=max_mb, name=shown)
        except OSError as error:
            raise PaperFileError(
                f"{shown}: can't be read ({error.strerror}); check the path and its rights", where=file.path
            ) from error
        file = replace(file, path=file.path.absolute(), content=read_file(PaperFile(found), name=name))
    content = read_file(file, name=name)
    check_bytes(len(content), max_mb=max_mb, name=shown)
    return replace(file, sha256=file.sha256 or content_hash(content))


def check_bytes(size: int, *, max_mb: int, name: str) -> None:
    """Raise `PaperFileError` if the size of the paper `name`, in bytes, is more than `max_mb` megabytes."""
    if size > max_mb * 1_000_000:
        raise PaperFileError(
            f"{name}: {size / 1e6:.0f} MB is over the limit of {max_mb} MB; raise limits.max_file_mb to read it"
        )


def read_paper(parser: Parser, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
    """Parse a file; an unexpected error of the parser raises `PaperFileError`, too."""
    try:
        return parser.parse(file, on_page=on_page)
    except _UNFORESEEN as error:
        raise PaperFileError(
            f"{file.name}: the parser failed on something unexpected ({type(error).__name__}: {error}); "
            "please report it with the file"
        ) from error
