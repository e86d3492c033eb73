"""Which parser reads a file: chosen by what the file is, with the settings in force."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from ingest.docling import docling_for
from ingest.formats import format_of
from ingest.images import ImageParser
from ingest.isolated import IsolatedParser
from ingest.markup import markup_parsers
from ingest.mineru import MinerUCommandParser, MinerUParser
from ingest.ocr import OcrBackend, Recognition, recognition_for
from ingest.pdf import PdfParser, backend_for
from ingest.small import SmallAtOnce
from paperscope.errors import PaperFileError
from paperscope.protocols import Parser
from paperscope.settings import LimitSettings, ParserSettings
from paperscope.types import PaperFormat, ParsedPaper

__all__ = ["FileParser", "parser_for"]

_SMALL_BYTES = 100_000


class FileParser:
    """Hands a file or folder to the parser of its format."""

    def __init__(self, parsers: Mapping[PaperFormat, Parser]) -> None:
        self._parsers = parsers

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`."""
        kind = format_of(file)
        parser = self._parsers.get(kind)
        if parser is None:
            known = ", ".join(sorted(self._parsers))
            raise PaperFileError(f"{file.name!r} is of the kind {kind!r}, which can't be read here; what can: {known}.")
        return parser.parse(file, password=password, on_page=on_page)


def parser_for(settings: ParserSettings, *, limits: LimitSettings) -> Parser:
    """The parser of every format that Paperscope reads. Raises `SettingsError` where a chosen library is missing."""
    return FileParser({**_readers(settings, limits), "mineru": MinerUParser(max_pages=limits.max_pages)})


@lru_cache(maxsize=1)
def _readers(settings: ParserSettings, limits: LimitSettings) -> Mapping[PaperFormat, Parser]:
    """One of each for all files read with the same settings, so that they share their child processes."""
    recognition = recognition_for(settings.ocr)
    image = ImageParser(recognition=recognition, dpi=settings.dpi, max_pages=limits.max_pages)
    return {
        "pdf": _pdf_parser(settings, limits, recognition=recognition),
        "image": _isolated(image, limits),
        **_text_parsers(limits),
    }


def _text_parsers(limits: LimitSettings) -> Mapping[PaperFormat, Parser]:
    """Those of files without pages, which share their child processes."""
    parsers: Mapping[PaperFormat, Parser] = markup_parsers(max_pages=limits.max_pages)
    isolated = _isolated(FileParser(parsers), limits)
    found = {kind: SmallAtOnce(parser, isolated=isolated, most_bytes=_SMALL_BYTES) for kind, parser in parsers.items()}
    # What its size says of a DOCX file is little: it is packed.
    return {**found, "docx": isolated}


def _pdf_parser(settings: ParserSettings, limits: LimitSettings, *, recognition: Recognition) -> Parser:
    if settings.engine == "docling":
        return docling_for(settings, limits=limits)
    if settings.engine == "mineru":
        return MinerUCommandParser(settings.mineru_command, seconds=limits.engine_seconds, max_pages=limits.max_pages)
    backend = OcrBackend(backend_for(settings.backend), recognition)
    parser = PdfParser(
        dpi=settings.dpi, backend=backend, layout_check=settings.layout_check, max_pages=limits.max_pages
    )
    return _isolated(parser, limits)


def _isolated(parser: Parser, limits: LimitSettings) -> Parser:
    return IsolatedParser(parser, seconds=limits.parse_seconds, memory_mb=limits.parse_memory_mb)
