"""The request, the result and the files of a job."""

import os
import re
import shutil
import stat
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from graph_store.database import translate_errors
from ingest.document.source import read_unchanged
from paperscope.library import AddResult as LibraryAddResult
from paperscope_core.errors import PaperFileError
from paperscope_core.files import PRIVATE_FILE, PRIVATE_FOLDER, create_private_folder
from paperscope_core.locations import Location, files_folder
from paperscope_core.types import PageProblem, Shortfall, Usage

__all__ = [
    "AddResult",
    "BatchRequest",
    "JobFiles",
    "PaperJob",
    "TableRequest",
    "TableResult",
    "file_within",
    "open_without_links",
    "read_without_links",
    "upload_name",
]

_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,12}")
_COPY_BYTES = 1 << 20
# A file name on Linux has at most 255 bytes; a longer one can't exist and is cut off in messages.
_MAX_QUOTED = 300
# Not every platform has all of these flags.
_COMMON_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | _COMMON_FLAGS
_FILE_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0) | _COMMON_FLAGS
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperJob:
    """A paper to add, either uploaded or at a path of this machine.

    Attributes:
        name: The caller's name for the file.
        upload: The name of the uploaded file among the job's files; "" for a path.
        path: The absolute path of the file; "" for an upload.
        replaces: The id of the paper that it replaces, if any.
        with_password: Whether a password came with it, which is in memory only.
    """

    name: str
    upload: str = ""
    path: str = ""
    replaces: str | None = None
    with_password: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRequest:
    """Questions to answer.

    Attributes:
        name: The caller's name for the file.
        file: The name of the question file among the job's files.
    """

    name: str
    file: str
    questions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRequest:
    """A literature table to fill: its title and its id."""

    name: str
    table: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TableResult:
    """The result of filling a literature table.

    Attributes:
        papers: The number of its papers.
        failures: The ids of papers of which cells could not be filled, each with the reason.
    """

    table: str
    papers: int
    failures: tuple[tuple[str, str], ...]
    usage: Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class AddResult:
    """The result of adding a paper.

    Attributes:
        elements: The number of elements of each kind.
        described: How many images a vision model described; it did not look at those `skipped` and failed on those
            `unread`.
        shortfall: What the extraction model did not read.
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
    def of(cls, added: LibraryAddResult) -> "AddResult":
        """Return the result of `Library.add`."""
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


class JobFiles:
    """The folders `LIBRARY/jobs/JOB`. Apart from a file's suffix, their paths contain nothing that a caller chose."""

    def __init__(self, library: Location) -> None:
        self._folder = files_folder(library) / "jobs"

    def folder(self, job: str) -> Path:
        """Return the folder of a job's files."""
        return self._folder / job

    def store(self, job: str, data: BinaryIO, *, file: str) -> None:
        """Write an uploaded file to disk and sync it. Raises StoreError, and may then leave files behind."""
        path = self.folder(job) / file
        with translate_errors(self._folder):
            create_private_folder(self._folder)
            path.parent.mkdir(PRIVATE_FOLDER)
            with open(path, "xb", opener=partial(os.open, mode=PRIVATE_FILE)) as stored:
                shutil.copyfileobj(data, stored, _COPY_BYTES)
                stored.flush()
                os.fsync(stored.fileno())
            for folder in (path.parent, self._folder, self._folder.parent):
                _sync(folder)

    def delete(self, job: str) -> None:
        """Delete a job's files."""
        shutil.rmtree(self.folder(job), ignore_errors=True)

    def jobs(self, *, min_age: float = 0.0) -> list[str]:
        """Return the jobs that have files, except those whose folder changed within the last `min_age` seconds."""
        found: list[str] = []
        for folder in sorted(self._folder.glob("*/")):
            # Another process may delete it in the meantime.
            with suppress(FileNotFoundError):
                if time.time() - folder.stat().st_mtime >= min_age:
                    found.append(folder.name)
        return found


def upload_name(name: str) -> str:
    """Return the name of an uploaded file among its job's files; only the suffix is the caller's."""
    suffix = Path(name).suffix.lower()
    return f"upload{suffix if _SUFFIX.fullmatch(suffix) else ''}"


def _sync(folder: Path) -> None:
    """Sync a folder's entries to disk."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def file_within(path: str, folders: Sequence[Path]) -> Path | None:
    """Return the file at an absolute path inside one of the folders, without links; None for any other path, whether it
    exists or not."""
    try:
        # With "..", a path through a missing folder would show what exists outside.
        file = Path(path).resolve() if Path(path).is_absolute() and ".." not in Path(path).parts else None
    except (OSError, RuntimeError, ValueError):
        return None
    return file if file and any(file.is_relative_to(folder.resolve()) for folder in folders) else None


def open_without_links(file: Path) -> BufferedReader:
    """Open a regular file by its absolute path without following a symbolic link in any part of it.

    A path that was checked can't be redirected before it is opened, and a pipe or device never blocks.

    Raises:
        PaperFileError: The file can't be read, or is a link, folder, pipe or device.
    """
    try:
        opened = os.fdopen(_open_descriptor(file), "rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise _no_such_file(file) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PaperFileError(f"{_quoted(file)}: can't be read ({reason}); upload it instead", where=file) from error
    if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
        opened.close()
        raise _no_such_file(file)
    return opened


def read_without_links(file: Path, *, max_bytes: int) -> bytes:
    """Return the content of a regular file, or the beginning of it if it has more than `max_bytes`.

    Raises:
        PaperFileError: It was changed while it was read. See also `open_without_links`.
    """
    with open_without_links(file) as opened:
        return read_unchanged(opened, name=file.name, max_bytes=max_bytes + 1)


def _open_descriptor(file: Path) -> int:
    """Open each folder of the path relative to its parent, because each call would resolve a whole path again."""
    if os.open not in os.supports_dir_fd:
        return os.open(file, _FILE_FLAGS)
    folder = os.open(file.anchor, _FOLDER_FLAGS)
    try:
        for part in file.parts[1:-1]:
            child = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = child
        return os.open(file.name or ".", _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _no_such_file(file: Path) -> PaperFileError:
    return PaperFileError(f"{_quoted(file)}: no such file; name a file, not a folder or a link", where=file)


def _quoted(file: Path) -> str:
    return repr(file.name if len(file.name) <= _MAX_QUOTED else f"{file.name[:_MAX_QUOTED]}…")
