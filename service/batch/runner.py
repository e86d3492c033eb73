"""Runs a batch: asks every question, keeps finished rows, writes the results."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from paperscope.library import Library
from paperscope_core.errors import ModelUnavailableError, OutputError, PaperscopeError, StoreFullError
from paperscope_core.files import output_errors, write_atomically
from service.batch.folder import Progress, folder_lock
from service.batch.questions import BadQuestion, Question
from service.batch.report import render_report
from service.batch.retries import RetryRounds
from service.batch.rows import BatchRow, image_name, paper_names, render_csv
from service.batch.summary import BatchSummary, score_row, summarise

__all__ = ["BatchResult", "BatchRunner", "ask_row", "failed_row"]


async def ask_row(library: Library, question: Question) -> BatchRow:
    """The row of a question. Raises ModelUnavailableError, which may pass, and StoreFullError, as further replies would
    be paid for and not kept; any other failure is a row that says why."""
    started = time.perf_counter()
    try:
        answer = await library.ask_async(question.text, filters=question.filters)
    except (ModelUnavailableError, StoreFullError):
        raise
    except PaperscopeError as error:
        return failed_row(question, error.public, seconds=time.perf_counter() - started)
    return BatchRow(
        index=question.index,
        question=question.text,
        status=answer.status,
        answer=answer,
        warnings=answer.warnings,
        seconds=answer.seconds,
    )


def failed_row(question: Question | BadQuestion, reason: str, *, seconds: float = 0.0) -> BatchRow:
    """The row of a question that has no answer."""
    return BatchRow(index=question.index, question=question.text, status="error", warnings=(reason,), seconds=seconds)


_JSONL, _CSV, _REPORT, _IMAGES = "answers.jsonl", "answers.csv", "report.md", "images"

OnRow = Callable[[BatchRow], None]
Asked = tuple[int, Question]


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchResult:
    """The rows of a batch, in the order asked, and what they come to."""

    rows: tuple[BatchRow, ...]
    summary: BatchSummary


class BatchRunner:
    """Runs questions against a library and writes the results into one folder.

    `rounds` says how often a question is asked again whose model was not to be had, `patience` for how many seconds
    another batch that works in the folder is waited for.
    """

    def __init__(
        self,
        library: Library,
        *,
        out: Path,
        concurrency: int = 4,
        rounds: RetryRounds | None = None,
        patience: float = 0.0,
    ) -> None:
        self._library = library
        self._out = out
        self._concurrency = concurrency
        self._rounds = rounds or RetryRounds()
        self._patience = patience

    def run(self, questions: Sequence[Question | BadQuestion], *, on_row: OnRow | None = None) -> BatchResult:
        """Answer all questions and write the results.

        A question that fails becomes a row with status "error", asked again by the next run; the rest goes on. `on_row`
        hears of each row when it is done, those of an earlier run first. Raises OutputError when the folder can't be
        written or another batch works there, and StoreFullError when the library can't be written.
        """
        return self._library.wait(self.run_async(questions, on_row=on_row))

    async def run_async(
        self, questions: Sequence[Question | BadQuestion], *, on_row: OnRow | None = None
    ) -> BatchResult:
        """`run`, awaitable on any loop. Cancelled, it writes the results that are there; the next run goes on."""
        batch = _Batch(self._library, self._out, questions, on_row or (lambda _row: None))
        async with folder_lock(self._out, patience=self._patience):
            try:
                await asyncio.to_thread(batch.open)
                left = await self._rounds.run(batch.waiting(), batch.ask, at_once=self._concurrency)
            except asyncio.CancelledError:
                batch.write_what_is_there()
                raise
            for (position, question), error in left:
                batch.keep(position, failed_row(question, error.public))
            return await asyncio.to_thread(batch.write)


class _Batch:
    """One run: its rows by their position among the questions, and where they go."""

    def __init__(self, library: Library, out: Path, questions: Sequence[Question | BadQuestion], on_row: OnRow) -> None:
        self._started = time.perf_counter()
        self._library = library
        self._out = out
        self._questions = questions
        self._on_row = on_row
        self._rows: dict[int, BatchRow] = {}

    def open(self) -> None:
        """Read what earlier runs left in the folder, and clear away what a kill tore. Raises OutputError."""
        images = self._out / _IMAGES
        with output_errors(self._out):
            images.mkdir(exist_ok=True)
            results = (file for name in (_JSONL, _CSV, _REPORT) for file in self._out.glob(f".{name}.*.tmp"))
            for torn in (*results, *images.glob(".*.tmp")):
                torn.unlink(missing_ok=True)
        self._progress = Progress(self._out / "progress.jsonl", fingerprint=self._library.fingerprint)

    def waiting(self) -> list[Asked]:
        """The questions that are to be asked; of the others the rows are kept."""
        waiting: list[Asked] = []
        for position, question in enumerate(self._questions):
            if isinstance(question, BadQuestion):
                self.keep(position, failed_row(question, question.reason))
            elif (row := self._progress.find(question)) is not None:
                self.keep(position, score_row(row, question))
            else:
                waiting.append((position, question))
        return waiting

    async def ask(self, asked: Asked) -> None:
        """Ask one question and keep its row. Raises ModelUnavailableError where it may be asked again."""
        position, question = asked
        row = await ask_row(self._library, question)
        if row.status != "error":
            self._progress.add(question, row)
        self.keep(position, score_row(row, question))

    def keep(self, position: int, row: BatchRow) -> None:
        """Note a row and tell of it."""
        self._rows[position] = row
        self._on_row(row)

    def write(self) -> BatchResult:
        """Write the results. Raises OutputError."""
        rows = tuple(self._rows[position] for position in sorted(self._rows))
        seconds = time.perf_counter() - self._started
        summary = summarise(rows, questions=len(self._questions), seconds=seconds)
        answers = [row.answer for row in rows if row.answer is not None]
        for reading in (reading for answer in answers for reading in answer.readings):
            # A paper that was removed meanwhile takes its crops with it.
            with suppress(KeyError):
                write_atomically(self._out / _IMAGES / image_name(reading.element), self._library.crop(reading.crop))
        names = paper_names(self._library, answers)
        write_atomically(self._out / _JSONL, "".join(row.to_json() + "\n" for row in rows).encode())
        write_atomically(self._out / _CSV, render_csv(rows, paper_names=names).encode())
        write_atomically(self._out / _REPORT, render_report(rows, summary, paper_names=names).encode())
        return BatchResult(rows=rows, summary=summary)

    def write_what_is_there(self) -> None:
        """`write` for a run that is stopped: where nothing is done yet, or nothing can be written, nothing is."""
        if self._rows:
            with suppress(OutputError):
                self.write()
