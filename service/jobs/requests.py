"""What a job is asked to do, what it results in, and the files that come with it."""

import os
import re
import shutil
import stat
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from graph_store.database import translate_errors
from paperscope.library import AddResult
from paperscope_core.errors import PaperFileError
from paperscope_core.types import PageProblem, Shortfall, Usage

__all__ = ["AddJobResult", "AddRequest", "BatchRequest", "JobFiles", "open_without_links"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AddRequest:
    """A paper to add: a file that was handed over (`upload`, its name among the job's files), or one at a `path` of
    this machine. `name` is what the caller calls it, `replaces` the id of the paper that it takes the place of."""

    name: str
    upload: str = ""
    path: str = ""
    replaces: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRequest:
    """So many questions to answer, from a `file` among the job's files; `name` is what the caller calls it."""

    name: str
    file: str
    questions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AddJobResult:
    """What adding a paper came to.

    `elements` counts its elements by kind; `described`, `skipped` and `unread` count its pictures by what a
    vision model did with them; `shortfall` is what the extracting model did not read.
    """

    paper: str
    title: str
    outcome: str
    pages: int
    elements: Mapping[str, int]
    described: int
    skipped: int
    unread: int
    seconds: float
    usage: Usage
    shortfall: Shortfall = field(default_factory=Shortfall)
    problems: tuple[PageProblem, ...] = ()

    @classmethod
    def of(cls, added: AddResult) -> "AddJobResult":
        """The result of an add."""
        paper, images = added.paper, added.images
        return cls(
            paper=paper.id,
            title=paper.title,
            outcome=added.outcome,
            pages=len(paper.pages),
            elements=dict(sorted(Counter(element.kind for element in paper.elements).items())),
            described=len(images.descriptions),
            skipped=len(images.skipped),
            unread=len(images.unread),
            seconds=round(added.seconds, 3),
            usage=added.usage,
            shortfall=added.shortfall,
            problems=paper.problems,
        )


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
            with translate_errors(self._folder):
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


# Some systems lack some of them.
_COMMON_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_MAX_QUOTED = 300
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | _COMMON_FLAGS
_FILE_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0) | _COMMON_FLAGS
)


def open_without_links(file: Path) -> BufferedReader:
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
        return os.open(file, _FILE_FLAGS)
    folder = os.open(file.anchor, _FOLDER_FLAGS)
    try:
        for part in file.parts[1:-1]:
            below = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(file.name or ".", _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _no_file(file: Path) -> PaperFileError:
    return PaperFileError(f"{_named(file)}: no such file; name a file, not a folder or a link", where=file)


def _named(file: Path) -> str:
    """The file's name, or the beginning of a long one."""
    return repr(file.name if len(file.name) <= _MAX_QUOTED else f"{file.name[:_MAX_QUOTED]}…")
