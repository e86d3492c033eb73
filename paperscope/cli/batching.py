"""`paperscope batch`: runs a question file with a progress bar and says where the results lie."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from paperscope.cli.display import answer_view, element_name, stderr, stdout
from paperscope.library import Library
from service import BadQuestion, BatchRow, BatchRunner, Question

__all__ = ["answer_all"]


def answer_all(
    library: Library, questions: Sequence[Question | BadQuestion], *, out: Path, show: bool, at_once: int
) -> int:
    """Answer all questions into `out`; returns how many rows ended in an error."""
    runner = BatchRunner(library, out=out, concurrency=at_once)
    columns = (TextColumn("answering"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr(), transient=True) as progress:
        task = progress.add_task("", total=len(questions))
        rows = runner.run(questions, on_row=lambda _row: progress.advance(task))
    if show:
        for row in rows:
            _show(library, row)
    errors = [row for row in rows if row.status == "error"]
    for row in errors:
        stderr().print(Text(f"error: question {row.index + 1}: {'; '.join(row.warnings)}", style="red"))
    counts = Counter(row.status for row in rows)
    summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    stdout().print(Text(f"{len(rows)} questions: {summary}. Results: {out}/answers.jsonl, {out}/report.md"))
    return len(errors)


def _show(library: Library, row: BatchRow) -> None:
    if row.answer is not None:
        stdout().print(answer_view(row.answer, name_of=lambda element: element_name(library.element(element))))
