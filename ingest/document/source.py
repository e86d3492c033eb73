"""Reads the bytes of a paper's file."""

import os
import stat
from pathlib import Path

from paperscope_core.errors import PaperFileError

__all__ = ["read_file", "read_pdf"]


def read_file(file: Path) -> bytes:
    """The bytes of a file. Raises `PaperFileError`, quoting its name, where there are none to read."""
    name = file.name or str(file)
    try:
        with open(file, "rb", opener=_at_once) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise PaperFileError(f"{name!r} is no regular file. Name a file that lies on a disk.")
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


def _at_once(path: str, flags: int) -> int:
    """A pipe that nobody writes to would be waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


_HEADER_WITHIN = 1024


def read_pdf(file: Path) -> bytes:
    """The bytes of a PDF file. Raises `PaperFileError` for anything else, quoting the file's name."""
    data = read_file(file)
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise PaperFileError(f"{file.name!r} is no PDF file. Convert it to PDF, or name another file.")
    return data
