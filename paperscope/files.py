"""Writing files that are wholly there or not at all, with failures said in one way."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paperscope.errors import OutputError

__all__ = ["write_atomically", "writing"]


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Translate an OSError inside the block into an OutputError that names `path` and the remedy."""
    try:
        yield
    except OSError as error:
        remedy = {
            errno.ENOSPC: "free some space and run the same command again",
            errno.EACCES: "choose a folder that you may write",
            errno.EROFS: "choose a folder that you may write",
            errno.ENOTDIR: "choose another folder: part of this path is a file",
            errno.EEXIST: "choose another folder: part of this path is a file",
        }.get(error.errno or 0, "choose another folder")
        raise OutputError(f"{path}: can't be written ({error.strerror}); {remedy}") from error


def write_atomically(path: Path, data: bytes) -> None:
    """Write through a temporary file beside `path`, so that no reader ever sees half of it. Raises OutputError."""
    with writing(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
