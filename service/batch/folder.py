"""The output folder of a batch: its lock, and the file of finished rows."""

import asyncio
import os
import platform
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import filelock

from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import OutputError
from paperscope_core.files import output_errors
from paperscope_core.types import Filters, content_hash
from service.batch.questions import Question
from service.batch.rows import BatchRow

__all__ = ["Progress", "finished_rows", "folder_lock"]


_LOCK_FILE = ".batch.lock"
_POLL_SECONDS = 0.5
_MAX_HOLDER_CHARACTERS = 200


@asynccontextmanager
async def folder_lock(folder: Path, *, patience: float = 0.0) -> AsyncIterator[None]:
    """Hold a folder, which is made where there is none; wait so many seconds for who holds it.

    Raises OutputError, which tells who that is, and changes nothing where another one goes on holding it.
    """
    lock = _FolderLock(folder)
    end = time.monotonic() + patience
    while not lock.take():
        if time.monotonic() >= end:
            raise OutputError(
                f"{folder}: another batch is at work there{lock.holder()}; wait until it ends, or choose another folder"
            )
        await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        lock.leave()


class _FolderLock:
    """The lock of a folder, a file in it while it is held."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / _LOCK_FILE
        self._lock = filelock.FileLock(self._file, thread_local=False)

    def take(self) -> bool:
        """Take it where nobody has it. Raises OutputError."""
        with output_errors(self._file.parent), suppress(filelock.Timeout):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
            # Who comes next is told; the lock holds without it.
            with suppress(OSError):
                self._file.write_text(_this_process(), encoding="utf-8")
        return self._lock.is_locked

    def leave(self) -> None:
        """Let the next one in."""
        with suppress(OSError):
            self._file.unlink()
        self._lock.release()

    def holder(self) -> str:
        """What the holder wrote, as a bracket; nothing where it did not, or it can't be read."""
        try:
            told = self._file.read_text(encoding="utf-8", errors="replace")[:_MAX_HOLDER_CHARACTERS]
        except OSError:
            return ""
        return f" ({told})" if told and told.isprintable() else ""


def _this_process() -> str:
    return f"process {os.getpid()} of {platform.node()}, since {datetime.now().astimezone():%Y-%m-%d %H:%M}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Finished:
    """A line of the file; `key` ties the row to the question and to all that decides its answer."""

    key: str
    row: BatchRow


class Progress:
    """The rows of earlier runs, and those that are added. Raises OutputError where the file can't be written.

    A row belongs to a question, wherever in a file it stands, and to a `fingerprint` of the library.
    """

    def __init__(self, file: Path, *, fingerprint: str) -> None:
        self._file = file
        self._fingerprint = fingerprint
        self._rows: dict[str, BatchRow] = {}
        with output_errors(file):
            data = file.read_bytes() if file.is_file() else b""
            if data and not data.endswith(b"\n"):
                # A kill tore the last line: the next one starts afresh.
                with file.open("ab") as torn:
                    torn.write(b"\n")
        for line in data.split(b"\n"):
            self._read(line)

    def find(self, question: Question) -> BatchRow | None:
        """The row of this question from an earlier run, if it is finished."""
        row = self._rows.get(self._key(question))
        return replace(row, index=question.index, resumed=True) if row else None

    def add(self, question: Question, row: BatchRow) -> None:
        """Keep a finished row."""
        with output_errors(self._file), self._file.open("a", encoding="utf-8") as file:
            file.write(to_json(_Finished(key=self._key(question), row=row)) + "\n")

    def _read(self, line: bytes) -> None:
        # One that is torn, or of another version of Paperscope, is asked again.
        if finished := _finished(line):
            self._rows[finished.key] = finished.row

    def _key(self, question: Question) -> str:
        filters = to_json(question.filters) if question.filters != Filters() else ""
        return content_hash("\0".join((question.text, self._fingerprint, filters)).encode())


def finished_rows(file: Path) -> list[BatchRow]:
    """The rows that a run has finished up to now, in the order asked; none where there is no such file."""
    lines = file.read_bytes().split(b"\n") if file.is_file() else []
    rows = {one.row.index: one.row for one in map(_finished, lines) if one}
    return [rows[index] for index in sorted(rows)]


def _finished(line: bytes) -> _Finished | None:
    try:
        return from_json(_Finished, line)
    except ValueError:
        return None
