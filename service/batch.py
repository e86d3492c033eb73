"""Asks every question of a file, a few at a time, and keeps what is finished.

`OUT/progress.jsonl` gets a line the moment a question is done, so that a run that was cut goes on where it stopped;
`OUT/answers.jsonl`, `OUT/answers.csv` and `OUT/report.md` are written in the order asked, `OUT/images/` holds the crops
that they name. One batch at a time works in a folder (`alone.py`).
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from paperscope.errors import OutputError
from paperscope.files import write_atomically, writing
from paperscope.library import Library
from service.alone import alone_in
from service.answers_csv import render_csv
from service.asking import ask_row, failed_row
from service.citations import paper_names
from service.progress import Progress
from service.questions import BadQuestion, Question
from service.report import render_report
from service.rounds import Rounds
from service.rows import BatchRow, image_name
from service.scoring import scored
from service.summary import BatchSummary, summarise

__all__ = ["BatchResult", "BatchRunner"]

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
        rounds: Rounds | None = None,
        patience: float = 0.0,
    ) -> None:
        self._library = library
        self._out = out
        self._concurrency = concurrency
        self._rounds = rounds or Rounds()
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
        async with alone_in(self._out, patience=self._patience):
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
        with writing(self._out):
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
                self.keep(position, scored(row, question))
            else:
                waiting.append((position, question))
        return waiting

    async def ask(self, asked: Asked) -> None:
        """Ask one question and keep its row. Raises ModelUnavailableError where it may be asked again."""
        position, question = asked
        row = await ask_row(self._library, question)
        if row.status != "error":
            self._progress.add(question, row)
        self.keep(position, scored(row, question))

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
