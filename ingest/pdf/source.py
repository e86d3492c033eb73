"""Reading the bytes of a file that should be a PDF."""

from pathlib import Path

from ingest.source import read_file
from paperscope.errors import PaperFileError

__all__ = ["read_pdf"]

_HEADER_WITHIN = 1024


def read_pdf(file: Path) -> bytes:
    """The bytes of a PDF file. Raises `PaperFileError` for anything else, quoting the file's name."""
    data = read_file(file)
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise PaperFileError(f"{file.name!r} is no PDF file. Convert it to PDF, or name another file.")
    return data
