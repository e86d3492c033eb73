"""Which parser reads a file: chosen by what the file is, with the settings in force."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from ingest.isolated import IsolatedParser
from ingest.mineru import MinerUParser
from ingest.pdf import PdfParser, backend_for
from paperscope.protocols import Parser
from paperscope.settings import LimitSettings, ParserSettings
from paperscope.types import ParsedPaper

__all__ = ["FileParser", "parser_for"]


class FileParser:
    """Hands a file to the parser of its format."""

    def __init__(self, *, pdf: Parser, mineru: Parser) -> None:
        self._pdf = pdf
        self._mineru = mineru

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`."""
        if file.is_dir():
            return self._mineru.parse(file, password=password, on_page=on_page)
        return self._pdf.parse(file, password=password, on_page=on_page)


def parser_for(settings: ParserSettings, *, limits: LimitSettings) -> Parser:
    """The parser of every format that Paperscope reads. Raises `SettingsError` where a chosen library is missing."""
    return FileParser(
        pdf=_pdf_parser(settings, limits),
        mineru=MinerUParser(max_pages=limits.max_pages),
    )


@lru_cache(maxsize=1)
def _pdf_parser(settings: ParserSettings, limits: LimitSettings) -> Parser:
    """One for all files read with the same settings, so that they share its child process."""
    parser = PdfParser(dpi=settings.dpi, backend=backend_for(settings.backend), max_pages=limits.max_pages)
    return IsolatedParser(parser, seconds=limits.parse_seconds, memory_mb=limits.parse_memory_mb)
