"""The output folder of a batch: its lock, and the file of the rows finished so far."""

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
from service.batch.question_files import Question
from service.batch.rows import BatchRow

__all__ = ["Progress", "finished_rows", "folder_lock", "newly_finished"]

_LOCK_FILE = ".batch.lock"
_POLL_SECONDS = 0.5
# A lock file that another program wrote may be long.
_MAX_HOLDER_LENGTH = 200


@asynccontextmanager
async def folder_lock(folder: Path, *, max_wait: float = 0.0) -> AsyncIterator[None]:
    """Lock a folder, which is created if needed, so that only one batch at a time writes into it.

    The operating system releases the lock when the process ends, even if it is killed.

    Raises:
        OutputError: Another process still holds the lock after `max_wait` seconds; the message says which. Nothing in
            the folder has changed then.
    """
    file = folder / _LOCK_FILE
    lock = filelock.FileLock(file, thread_local=False)
    deadline = time.monotonic() + max_wait
    while not _try_acquire(lock, file):
        if time.monotonic() >= deadline:
            raise OutputError(
                f"{folder}: another batch is writing there{_holder(file)}; wait until it ends, or choose another folder"
            )
        await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink()
        lock.release()


def _try_acquire(lock: filelock.BaseFileLock, file: Path) -> bool:
    with output_errors(file.parent), suppress(filelock.Timeout):
        file.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
        # Only for the message of another process that waits.
        with suppress(OSError):
            since = f"{datetime.now().astimezone():%Y-%m-%d %H:%M}"
            file.write_text(f"process {os.getpid()} of {platform.node()}, since {since}", encoding="utf-8")
    return lock.is_locked


def _holder(file: Path) -> str:
    """Return the description that the lock's holder wrote, in brackets; "" if it can't be read."""
    try:
        holder = file.read_text(encoding="utf-8", errors="replace")[:_MAX_HOLDER_LENGTH]
    except OSError:
        return ""
    return f" ({holder})" if holder and holder.isprintable() else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Finished:
    """A line of the file: a row, and a hash of the question and of all that determines its answer."""

    key: str
    row: BatchRow


class Progress:
    """The rows that this run and earlier ones have finished, one per line of a file.

    A row is found by its question, wherever that is in the question file, and by the library's `fingerprint`. All
    methods raise OutputError if the file can't be written.
    """

    def __init__(self, file: Path, *, fingerprint: str) -> None:
        self._file = file
        self._fingerprint = fingerprint
        with output_errors(file):
            data = file.read_bytes() if file.is_file() else b""
            if data and not data.endswith(b"\n"):
                # A killed run left half a line.
                with file.open("ab") as opened:
                    opened.write(b"\n")
        self._rows = {finished.key: finished.row for finished in _parse(data)}

    def find(self, question: Question) -> BatchRow | None:
        """Return the finished row of this question, if there is one."""
        row = self._rows.get(self._key(question))
        return replace(row, index=question.index, resumed=True) if row else None

    def add(self, question: Question, row: BatchRow) -> None:
        """Append a finished row to the file."""
        with output_errors(self._file), self._file.open("a", encoding="utf-8") as file:
            file.write(to_json(_Finished(key=self._key(question), row=row)) + "\n")

    def _key(self, question: Question) -> str:
        filters = to_json(question.filters) if question.filters != Filters() else ""
        return content_hash("\0".join((question.text, self._fingerprint, filters)).encode())


def finished_rows(file: Path) -> list[BatchRow]:
    """Return the rows in a progress file, in the order of their questions; none if there is no such file."""
    rows = {finished.row.index: finished.row for finished in _parse(file.read_bytes() if file.is_file() else b"")}
    return [rows[index] for index in sorted(rows)]


def newly_finished(file: Path, *, after: int) -> tuple[list[BatchRow], int]:
    """Return the rows in a progress file after its first `after` lines, in the order in which they were finished.

    The second value is the number of its lines: the `after` of the next call.
    """
    lines = (file.read_bytes() if file.is_file() else b"").split(b"\n")[:-1]
    return [finished.row for finished in _parse(b"\n".join(lines[after:]))], len(lines)


def _parse(data: bytes) -> list[_Finished]:
    """Return the readable lines. The question of an incomplete line, or of another version's, is asked again."""
    finished: list[_Finished] = []
    for line in data.split(b"\n"):
        with suppress(ValueError):
            finished.append(from_json(_Finished, line))
    return finished
