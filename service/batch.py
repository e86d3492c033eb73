"""Asks every question of a file, a few at a time, and keeps what is finished.

`OUT/progress.jsonl` gets a line the moment a question is done, so that a run that was cut goes on where it stopped;
`OUT/answers.jsonl` and `OUT/report.md` are written in the order asked, `OUT/images/` holds the crops they name.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paperscope.codec import from_json, to_json
from paperscope.errors import PaperscopeError
from paperscope.files import write_atomically, writing
from paperscope.library import Library
from paperscope.types import Filters, content_hash
from service.questions import BadQuestion, Question
from service.report import render_report
from service.rows import BatchRow, image_name

__all__ = ["BatchRow", "BatchRunner"]

OnRow = Callable[[BatchRow], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Finished:
    """A line of `progress.jsonl`; `key` ties the row to the question, the library's revision and the models."""

    key: str
    row: BatchRow


class BatchRunner:
    """Runs questions against a library and writes the results into one folder."""

    def __init__(self, library: Library, *, out: Path, concurrency: int = 4) -> None:
        self._library = library
        self._out = out
        self._concurrency = concurrency

    def run(self, questions: Sequence[Question | BadQuestion], *, on_row: OnRow | None = None) -> list[BatchRow]:
        """Answer all questions and write the results; rows come back in the order asked.

        A question that fails becomes a row with status "error"; the rest goes on. `on_row` hears of each row when it
        is done, those of an earlier run first. Raises OutputError when the folder can't be written.
        """
        return self._library.wait(self._run(questions, on_row=on_row or (lambda _row: None)))

    async def _run(self, questions: Sequence[Question | BadQuestion], *, on_row: OnRow) -> list[BatchRow]:
        progress = self._out / "progress.jsonl"
        with writing(self._out):
            (self._out / "images").mkdir(parents=True, exist_ok=True)
            _end_last_line(progress)
        finished = _load_finished(progress)
        gate = asyncio.Semaphore(self._concurrency)

        async def one(question: Question | BadQuestion) -> BatchRow:
            key = self._key(question)
            row = finished.get(key)
            if row is None:
                async with gate:
                    row = await self._ask(question)
                if row.status != "error":
                    with writing(progress), progress.open("a", encoding="utf-8") as file:
                        file.write(to_json(_Finished(key=key, row=row)) + "\n")
            on_row(row)
            return row

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(question)) for question in questions]
        except* PaperscopeError as errors:
            raise errors.exceptions[0] from None
        rows = [task.result() for task in tasks]
        self._write(rows)
        return rows

    def _key(self, question: Question | BadQuestion) -> str:
        filters = to_json(question.filters) if isinstance(question, Question) and question.filters != Filters() else ""
        parts = (str(question.index), question.text, self._library.fingerprint, filters)
        return content_hash("\0".join(parts).encode())

    async def _ask(self, question: Question | BadQuestion) -> BatchRow:
        started = time.perf_counter()

        def failed(reason: str) -> BatchRow:
            seconds = time.perf_counter() - started
            return BatchRow(
                index=question.index, question=question.text, status="error", warnings=(reason,), seconds=seconds
            )

        if isinstance(question, BadQuestion):
            return failed(question.reason)
        try:
            answer = await self._library.ask_async(question.text, filters=question.filters)
        except PaperscopeError as error:
            return failed(str(error))
        return BatchRow(
            index=question.index,
            question=question.text,
            status=answer.status,
            answer=answer,
            warnings=answer.warnings,
            seconds=answer.seconds,
        )

    def _write(self, rows: Sequence[BatchRow]) -> None:
        for row in rows:
            for reading in row.answer.readings if row.answer else ():
                crop = self._library.crop(reading.crop)
                write_atomically(self._out / "images" / image_name(reading.element), crop)
        lines = "".join(row.to_json() + "\n" for row in rows)
        write_atomically(self._out / "answers.jsonl", lines.encode())
        write_atomically(self._out / "report.md", render_report(rows).encode())


def _end_last_line(progress: Path) -> None:
    """End a last line that a kill tore, so that the next one starts afresh."""
    if progress.is_file() and not progress.read_bytes().endswith(b"\n"):
        with progress.open("ab") as file:
            file.write(b"\n")


def _load_finished(progress: Path) -> dict[str, BatchRow]:
    """Rows of an earlier run; a last line torn by a kill is passed over."""
    finished: dict[str, BatchRow] = {}
    if progress.is_file():
        for line in progress.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                item = from_json(_Finished, line)
            except ValueError:
                continue
            finished[item.key] = item.row
    return finished
