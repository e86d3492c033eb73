"""Opening a file that a caller named by its path: the very one that was allowed, and never one that is waited for."""

import os
import stat
from io import BufferedReader
from pathlib import Path

from paperscope.errors import PaperFileError

__all__ = ["open_unlinked"]

# Some systems lack some of them.
_ANY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_MOST_QUOTED = 300
_FOLDER = os.O_RDONLY | getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | _ANY
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0) | _ANY


def open_unlinked(file: Path) -> BufferedReader:
    """Open a regular file by its absolute path, no part of which may be a link, or become one meanwhile.

    Raises PaperFileError, also for a folder, a pipe and a device.
    """
    try:
        opened = os.fdopen(_handle(file), "rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise _no_file(file) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PaperFileError(f"{_named(file)}: can't be read ({reason}); upload it instead", where=file) from error
    if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
        opened.close()
        raise _no_file(file)
    return opened


def _handle(file: Path) -> int:
    """Go down from the root, a folder at a time, each held open: a path would be looked up anew by every call."""
    if os.open not in os.supports_dir_fd:
        return os.open(file, _FILE)
    folder = os.open(file.anchor, _FOLDER)
    try:
        for part in file.parts[1:-1]:
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(file.name or ".", _FILE, dir_fd=folder)
    finally:
        os.close(folder)


def _no_file(file: Path) -> PaperFileError:
    return PaperFileError(f"{_named(file)}: no such file; name a file, not a folder or a link", where=file)


def _named(file: Path) -> str:
    """The file's name, or the beginning of a long one."""
    return repr(file.name if len(file.name) <= _MOST_QUOTED else f"{file.name[:_MOST_QUOTED]}…")
