"""Atomic file writes, with OS errors translated."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from paperscope_core.errors import OutputError

__all__ = [
    "PRIVATE_FILE",
    "PRIVATE_FOLDER",
    "create_private_file",
    "create_private_folder",
    "output_errors",
    "replace_file",
    "rewrite_settings",
    "write_atomically",
]

# The modes of what only its owner may read, such as the files of a library. They are set when a file is created; an
# existing file keeps its mode, because its owner may share it.
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


_REMEDIES = {
    errno.ENOSPC: "free some space and run the same command again",
    errno.EACCES: "choose a folder that you may write",
    errno.EROFS: "choose a folder that you may write",
    errno.ENOTDIR: "choose another folder: part of this path is a file",
    errno.EEXIST: "choose another folder: part of this path is a file",
}


def create_private_folder(folder: Path) -> None:
    """Create a folder that only its owner may read, unless it exists; its parents get the usual mode.

    Raises:
        OSError: The folder can't be created.
    """
    folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)


def create_private_file(file: Path) -> None:
    """Create an empty file that only its owner may read, unless it exists.

    Raises:
        OSError: The file can't be created.
    """
    with suppress(FileExistsError):
        file.touch(PRIVATE_FILE, exist_ok=False)


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Translate an OSError inside the block into an OutputError that names `path` and a remedy."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "choose another folder")
        raise OutputError(f"can't be written ({error.strerror}); {remedy}", where=path) from error


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that the user asked for, completely or not at all.

    Raises:
        OutputError: The file can't be written; `path` is then unchanged.
    """
    with output_errors(path):
        replace_file(path, data)


def replace_file(path: Path, *parts: bytes, mode: int = 0o666) -> None:
    """Write a file through a temporary one in the same folder, so that readers never see a partial file.

    The data is on the disk when this returns.

    Args:
        mode: Its permissions, before the umask.

    Raises:
        OSError: The file can't be written; `path` is then unchanged.
    """
    # Not `mkstemp`, which ignores the umask and creates files that only their owner can read.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=mode)) as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def rewrite_settings(path: Path, text: str, *, mode: int | None = None) -> None:
    """Write a user's settings file, completely or not at all; a link is followed, and its folder is created.

    Args:
        mode: Its permissions; None for those that it has.

    Raises:
        OutputError: The file can't be written.
    """
    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if mode is None:
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666
        replace_file(path.resolve(), text.encode(), mode=mode)
