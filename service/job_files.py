"""The files of jobs: what was handed over for one, and what it writes. A folder a job, in the library's folder."""

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from graph_store.failures import translated

__all__ = ["JobFiles"]

_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,12}")
_CHUNK = 1 << 20


class JobFiles:
    """The folders `LIBRARY/jobs/JOB`. No part of a path here is a stranger's. Raises StoreError."""

    def __init__(self, library: Path) -> None:
        self._folder = library / "jobs"

    def folder(self, job: str) -> Path:
        """Where a job's files lie."""
        return self._folder / job

    def put(self, job: str, data: BinaryIO, *, stem: str, name: str) -> Path:
        """Keep a file that was handed over as `name`, from whose suffix its own is taken; it is on the disk when this
        returns. Where it can't be, nothing is left of it."""
        suffix = Path(name).suffix.lower()
        path = self.folder(job) / f"{stem}{suffix if _SUFFIX.fullmatch(suffix) else ''}"
        try:
            with translated(self._folder):
                path.parent.mkdir(parents=True)
                with path.open("xb") as file:
                    shutil.copyfileobj(data, file, _CHUNK)
                    file.flush()
                    os.fsync(file.fileno())
                for folder in (path.parent, self._folder, self._folder.parent):
                    _sync(folder)
        except BaseException:
            self.discard(job)
            raise
        return path

    def discard(self, job: str) -> None:
        """Delete a job's files."""
        shutil.rmtree(self.folder(job), ignore_errors=True)

    def jobs(self, *, older: float = 0.0) -> list[str]:
        """The jobs that have files, of those that nobody touched for so many seconds."""
        found: list[str] = []
        for folder in sorted(self._folder.glob("*/")):
            # Another process may delete them.
            with suppress(FileNotFoundError):
                if time.time() - folder.stat().st_mtime >= older:
                    found.append(folder.name)
        return found


def _sync(folder: Path) -> None:
    """Let the names in a folder be on the disk, too."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
