"""Answers the questions of a file, several at a time, and writes the results into a folder.

`progress.jsonl` gets a line as soon as a question is finished, so an interrupted run can be resumed. `answers.jsonl`,
`answers.csv` and `report.md` are written at the end, in the order of the questions; `images/` holds the crops that they
name. A lock lets one batch at a time write into a folder.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path

from paperscope.library import Library
from paperscope.retries import RetryRounds
from paperscope_core.errors import (
    InputError,
    ModelUnavailableError,
    NotFoundError,
    OutputError,
    PaperFileError,
    PaperscopeError,
    StoreFullError,
    StoreUnavailableError,
)
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.types import AskRequest, Usage
from service.batch.folder import Progress, folder_lock
from service.batch.question_files import BadQuestion, Question
from service.batch.report import render_report
from service.batch.rows import BatchRow, image_name, render_csv
from service.batch.summary import BatchSummary, score_row, summarize

__all__ = ["BatchEstimate", "BatchResult", "BatchRunner"]

_JSONL, _CSV, _REPORT, _IMAGES = "answers.jsonl", "answers.csv", "report.md", "images"
_PROGRESS = "progress.jsonl"

OnRow = Callable[[BatchRow], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchResult:
    """The rows of a batch, in the order of the questions, and their summary."""

    rows: tuple[BatchRow, ...]
    summary: BatchSummary


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchEstimate:
    """How many questions are to be asked, and their estimated usage by role; see `QuestionEstimate`."""

    questions: int
    least: Mapping[str, Usage]
    most: Mapping[str, Usage]


@dataclass(frozen=True)
class BatchRunner:
    """Asks a library questions and writes the results into one folder.

    Attributes:
        out: The folder, which is created if needed.
        lock_timeout: How many seconds to wait for another batch that writes into the folder.
    """

    library: Library
    _: KW_ONLY
    out: Path
    concurrency: int = 4
    retries: RetryRounds = field(default_factory=RetryRounds)
    lock_timeout: float = 0.0

    def run(self, questions: Sequence[Question | BadQuestion], *, on_row: OnRow | None = None) -> BatchResult:
        """Answer all questions and write the results.

        A question that fails becomes a row with status "error" and is asked again by the next run.

        Args:
            on_row: Called with each finished row, those of earlier runs first.

        Raises:
            OutputError: The folder can't be written, or another batch writes into it.
            StoreFullError: The library can't be written.
            StoreUnavailableError: Its server can't be reached.
        """
        return self.library.wait(self.run_async(questions, on_row=on_row))

    def estimate(self, questions: Sequence[Question | BadQuestion]) -> BatchEstimate:
        """Estimate the model usage of the questions that no earlier run has answered. It asks no language model, and
        writes nothing.

        Raises:
            ModelError: An embedder on a server failed.
        """
        return self.library.wait(self._estimate(questions))

    async def _estimate(self, questions: Sequence[Question | BadQuestion]) -> BatchEstimate:
        from paperscope.question_estimates import QuestionEstimate, sum_roles

        progress = Progress(self.out / _PROGRESS, fingerprint=self.library.fingerprint)
        unanswered = [one for one in questions if isinstance(one, Question) and progress.find(one) is None]
        estimator = self.library.question_estimator()
        found: list[QuestionEstimate] = []
        for question in unanswered:
            # A question about an unknown paper takes no call.
            with suppress(InputError):
                found.append(await estimator.estimate(AskRequest.of(question.text, filters=question.filters)))
        return BatchEstimate(
            questions=len(unanswered),
            least=sum_roles(*(one.least for one in found)),
            most=sum_roles(*(one.most for one in found)),
        )

    async def run_async(
        self, questions: Sequence[Question | BadQuestion], *, on_row: OnRow | None = None
    ) -> BatchResult:
        """`run` on any event loop. If it is cancelled, it writes the finished rows; the next run resumes."""
        batch = _Batch(self.library, self.out, questions, on_row or (lambda _row: None))
        async with folder_lock(self.out, max_wait=self.lock_timeout):
            try:
                await asyncio.to_thread(batch.open)
                failed = await self.retries.run(batch.unanswered(), batch.ask, concurrency=self.concurrency)
            except asyncio.CancelledError:
                batch.write_finished()
                raise
            for question, error in failed:
                batch.keep(_error_row(question, error.public))
            return await asyncio.to_thread(batch.write)


class _Batch:
    """One run: its rows by the position of their question, which is its index, and its output files."""

    def __init__(self, library: Library, out: Path, questions: Sequence[Question | BadQuestion], on_row: OnRow) -> None:
        self._started = time.perf_counter()
        self._library = library
        self._out = out
        # The questions may come from several files.
        self._questions = [replace(question, index=index) for index, question in enumerate(questions)]
        self._on_row = on_row
        self._rows: dict[int, BatchRow] = {}

    def open(self) -> None:
        """Read the progress of earlier runs, and deletes temporary files of a killed run. Raises OutputError."""
        images = self._out / _IMAGES
        with output_errors(self._out):
            images.mkdir(exist_ok=True)
            results = (file for name in (_JSONL, _CSV, _REPORT) for file in self._out.glob(f".{name}.*.tmp"))
            for temporary in (*results, *images.glob(".*.tmp")):
                temporary.unlink(missing_ok=True)
        self._progress = Progress(self._out / _PROGRESS, fingerprint=self._library.fingerprint)

    def unanswered(self) -> list[Question]:
        """Return the questions that have no row yet; keeps the rows of the others."""
        unanswered: list[Question] = []
        for question in self._questions:
            if isinstance(question, BadQuestion):
                self.keep(_error_row(question, question.reason))
            elif (row := self._progress.find(question)) is not None:
                self.keep(score_row(row, question))
            else:
                unanswered.append(question)
        return unanswered

    async def ask(self, question: Question) -> None:
        """Ask a question and add its row. Raises ModelUnavailableError, after which it may be retried."""
        row = await _ask(self._library, question)
        if row.status != "error":
            self._progress.add(question, row)
        self.keep(score_row(row, question))

    def keep(self, row: BatchRow) -> None:
        """Add a row and report it."""
        self._rows[row.index] = row
        self._on_row(row)

    def write(self) -> BatchResult:
        """Write the results. Raises OutputError."""
        rows = tuple(self._rows[index] for index in sorted(self._rows))
        seconds = time.perf_counter() - self._started
        summary = summarize(rows, questions=len(self._questions), seconds=seconds)
        answers = [row.answer for row in rows if row.answer is not None]
        for reading in (reading for answer in answers for reading in answer.readings):
            # The crops of a paper that was removed meanwhile are gone, and so may be its file.
            with suppress(NotFoundError, PaperFileError):
                write_atomically(self._out / _IMAGES / image_name(reading), self._library.reading_picture(reading))
        write_atomically(self._out / _JSONL, "".join(row.to_json() + "\n" for row in rows).encode())
        write_atomically(self._out / _CSV, render_csv(rows).encode())
        write_atomically(self._out / _REPORT, render_report(rows, summary).encode())
        return BatchResult(rows=rows, summary=summary)

    def write_finished(self) -> None:
        """Write the results of a cancelled run, unless nothing is finished or the folder can't be written."""
        if self._rows:
            with suppress(OutputError):
                self.write()


async def _ask(library: Library, question: Question) -> BatchRow:
    """Return the row of a question.

    Raises ModelUnavailableError and StoreUnavailableError, which may be temporary, and StoreFullError, because further
    replies would be paid for and not stored. Any other error becomes a row.
    """
    started = time.perf_counter()
    try:
        answer = await library.ask_async(question.text, filters=question.filters)
    except (ModelUnavailableError, StoreFullError, StoreUnavailableError):
        raise
    except PaperscopeError as error:
        return _error_row(question, error.public, seconds=time.perf_counter() - started)
    return BatchRow(
        index=question.index,
        question=question.text,
        status=answer.status,
        answer=answer,
        seconds=answer.seconds,
    )


def _error_row(question: Question | BadQuestion, reason: str, *, seconds: float = 0.0) -> BatchRow:
    return BatchRow(index=question.index, question=question.text, status="error", error=reason, seconds=seconds)
