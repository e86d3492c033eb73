"""What of a batch is finished: a line of `progress.jsonl` for each row, written the moment it is done."""

from dataclasses import dataclass, replace
from pathlib import Path

from paperscope.codec import from_json, to_json
from paperscope.files import writing
from paperscope.types import Filters, content_hash
from service.questions import Question
from service.rows import BatchRow

__all__ = ["Progress", "finished_rows"]


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
        with writing(file):
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
        with writing(self._file), self._file.open("a", encoding="utf-8") as file:
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
