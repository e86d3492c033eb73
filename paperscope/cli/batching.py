"""`paperscope batch`: runs a question file with a progress bar and says where the results lie."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from paperscope.cli.display import answer_view, element_name, stderr, stdout
from paperscope.library import Library
from service import BadQuestion, BatchResult, BatchRow, BatchRunner, Question, summary_lines

__all__ = ["TimeLeft", "answer_all"]


class TimeLeft(ProgressColumn):
    """The time until the end, from the mean over all steps of this run.

    Rich's own is the speed of late: rows come in bursts, as many as are asked at once, and it would take a burst's.
    """

    def render(self, task: Task) -> Text:
        """`0:01:20`, or `-:--:--` before the first step."""
        if not task.completed or task.elapsed is None or task.remaining is None:
            return Text("-:--:--", style="progress.remaining")
        seconds = task.elapsed * task.remaining / task.completed
        return Text(str(timedelta(seconds=round(seconds))), style="progress.remaining")


def answer_all(
    library: Library, questions: Sequence[Question | BadQuestion], *, out: Path, show: bool, at_once: int
) -> int:
    """Answer all questions into `out`; returns how many rows ended in an error."""
    result = _run(BatchRunner(library, out=out, concurrency=at_once), questions, out)
    if show:
        for row in result.rows:
            _show(library, row)
    errors = [row for row in result.rows if row.status == "error"]
    for row in errors:
        stderr().print(Text(f"error: question {row.index + 1}: {'; '.join(row.warnings)}", style="red"))
    lines = [*summary_lines(result.summary), f"Results: {out}/answers.jsonl, {out}/answers.csv, {out}/report.md"]
    stdout().print(Text("\n".join(lines)))
    return len(errors)


def _run(runner: BatchRunner, questions: Sequence[Question | BadQuestion], out: Path) -> BatchResult:
    columns = (TextColumn("answering"), BarColumn(), MofNCompleteColumn(), TimeLeft(), TextColumn("{task.description}"))
    unread = {question.index for question in questions if isinstance(question, BadQuestion)}
    asked, done = len(questions) - len(unread), 0
    with Progress(*columns, console=stderr(), transient=True) as progress:
        task = progress.add_task("", total=asked)

        def on_row(row: BatchRow) -> None:
            nonlocal asked, done
            done += row.status != "error"
            if row.resumed:
                # What is already there says nothing on how long the rest will take.
                asked -= 1
                progress.update(task, total=asked, description=f"{done} from an earlier run")
            elif row.index not in unread:
                progress.advance(task)

        try:
            return runner.run(questions, on_row=on_row)
        except KeyboardInterrupt:
            progress.console.print(Text(f"{done} of {len(questions)} questions are answered and kept in {out}"))
            raise


def _show(library: Library, row: BatchRow) -> None:
    if row.answer is not None:
        stdout().print(answer_view(row.answer, name_of=lambda element: element_name(library.element(element))))
