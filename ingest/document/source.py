"""Reads the bytes of a paper's file."""

import os
import stat
from pathlib import Path

from paperscope_core.errors import PaperFileError

__all__ = ["check_page_count", "read_file", "read_pdf"]

_HEADER_WITHIN = (
    1024  # Acrobat accepts the header anywhere in the first 1024 bytes (PDF Reference 1.7, appendix H, note 13).
)


def read_file(file: Path) -> bytes:
    """Returns the bytes of a file.

    Raises:
        PaperFileError: The file is missing, unreadable, empty or not a regular file; the message quotes its name.
    """
    name = file.name or str(file)
    try:
        with open(file, "rb", opener=_open_without_waiting) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise PaperFileError(f"{name!r} is not a regular file. Name a file on a disk.")
            data = opened.read()
    except FileNotFoundError as error:
        raise PaperFileError(f"There is no file {name!r}. Check the path.", where=file) from error
    except IsADirectoryError as error:
        raise PaperFileError(f"{name!r} is a folder. Name a file in it.") from error
    except OSError as error:
        raise PaperFileError(
            f"{name!r} can't be read: {error.strerror}. Check the path and its permissions.", where=file
        ) from error
    if not data:
        raise PaperFileError(f"{name!r} is empty. Fetch the file again.")
    return data


def read_pdf(file: Path) -> bytes:
    """Returns the bytes of a PDF file. Raises `PaperFileError` as `read_file` does, and for other kinds of files."""
    data = read_file(file)
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise PaperFileError(f"{file.name!r} is not a PDF file. Convert it to PDF, or name another file.")
    return data


def check_page_count(count: int, *, limit: int | None, name: str) -> None:
    """Raises `PaperFileError` if a paper has more pages than the limit."""
    if limit is not None and count > limit:
        raise PaperFileError(
            f"{name!r} has {count} pages, over the limit of {limit}; raise limits.max_pages to add it."
        )


def _open_without_waiting(path: str, flags: int) -> int:
    """Opens a file; a pipe that nobody writes to would block."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
