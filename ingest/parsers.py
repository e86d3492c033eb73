"""Chooses the parser of a file by its format, and bounds what a file from a stranger may do."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from ingest.formats import content_file, format_of
from ingest.ocr import OcrBackend, Recognition, recognition_for
from ingest.pdf import PdfParser, backend_for
from ingest.readers.docling.parser import docling_for
from ingest.readers.images import ImageParser
from ingest.readers.markup import markup_parsers
from ingest.readers.mineru.parser import MinerUCommandParser, MinerUParser
from ingest.sandbox.isolated_parser import IsolatedParser
from paperscope_core.errors import PaperFileError
from paperscope_core.protocols import Parser
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import PaperFormat, ParsedPaper

__all__ = ["FileParser", "SmallFilesInProcess", "check_size", "parser_for", "read_paper"]


class SmallFilesInProcess:
    """Reads files of up to `most_bytes` with `parser` in this process, and larger ones with `isolated`."""

    def __init__(self, parser: Parser, *, isolated: Parser, most_bytes: int) -> None:
        self._parser = parser
        self._isolated = isolated
        self._most_bytes = most_bytes

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`."""
        parser = self._parser if _size(file) <= self._most_bytes else self._isolated
        return parser.parse(file, password=password, on_page=on_page)


def _size(file: Path) -> int:
    """The file's size; 0 where it can't be looked up, which the parser will say."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


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
    found = {
        kind: SmallFilesInProcess(parser, isolated=isolated, most_bytes=_SMALL_BYTES)
        for kind, parser in parsers.items()
    }
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


# A file from a stranger may break a rule of the parser in ways that nobody thought of; it must not stop other files.
_UNFORESEEN = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def check_size(file: Path, *, max_mb: int, name: str = "") -> None:
    """Raise PaperFileError for a paper of more than `max_mb` megabytes, and for one that can't be looked up; it is
    called `name` where the file's own name tells nothing."""
    try:
        size = content_file(file).stat().st_size
    except OSError as error:
        raise PaperFileError(
            f"{name or file.name}: can't be read ({error.strerror}); check the path and its rights", where=file
        ) from error
    if size > max_mb * 1_000_000:
        raise PaperFileError(
            f"{name or file.name}: {size / 1e6:.0f} MB is over the limit of {max_mb} MB; "
            "raise limits.max_file_mb to read it"
        )


def read_paper(
    parser: Parser,
    file: Path,
    *,
    password: str | None = None,
    on_page: Callable[[int, int], None] | None = None,
) -> ParsedPaper:
    """What `parser` reads from `file`; a fault of the parser itself is a PaperFileError as well."""
    try:
        return parser.parse(file, password=password, on_page=on_page)
    except _UNFORESEEN as error:
        raise PaperFileError(
            f"{file.name}: the parser met something that it does not foresee ({type(error).__name__}: {error}); "
            "please report it with the file"
        ) from error
