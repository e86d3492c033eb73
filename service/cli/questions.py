"""`paperscope ask`, `batch` and `graph`."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Table as Grid
from rich.text import Text

from paperscope.library import Library
from paperscope.neighbourhood import Neighbourhood
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError
from paperscope_core.files import write_atomically
from paperscope_core.types import Answer, Filters, Turn
from service.batch import BadQuestion, BatchResult, BatchRow, BatchRunner, Question, summary_lines
from service.cli.display import answer_view, element_name, stderr, stdout
from service.cli.options import (
    AfterOption,
    ConfigOption,
    JsonOption,
    KindOption,
    LibraryOption,
    PaperOption,
    SectionOption,
    YearOption,
    open_library,
)

__all__ = [
    "TimeLeft",
    "ask",
    "ask_one",
    "batch",
    "graph",
    "neighbourhood_view",
    "read_history",
    "run_batch",
    "write_graph_files",
]


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    *,
    paper: PaperOption = None,
    section: SectionOption = None,
    kind: KindOption = None,
    year: YearOption = None,
    after: AfterOption = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question, with the places that the answer rests on. Exit code 0 also when the papers don't say."""
    from paperscope_core.types import Filters

    filters = Filters.of(papers=paper or (), sections=section or (), kinds=kind or (), years=year)
    history = read_history(after or ())
    with open_library(library=library, config=config) as opened:
        ask_one(opened, question, filters=filters, history=history, as_json=as_json)


def batch(
    questions: Annotated[Path, typer.Argument(help="The questions: JSON lines, CSV, or one a line (.txt, .md).")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for answers.jsonl, answers.csv and report.md.")],
    show: Annotated[bool, typer.Option("--show", help="Print each answer as well.")] = False,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="How many questions are asked at a time.")] = 4,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Answer a file of questions. Run again, it goes on where it stopped."""
    from service.batch import load_questions

    asked = load_questions(questions)
    with open_library(library=library, config=config) as opened:
        failed = run_batch(opened, asked, out=out, show=show, at_once=at_once)
    raise typer.Exit(1 if failed else 0)


def graph(
    entity: Annotated[str, typer.Argument(help="An entity's name, or another name of it.")],
    *,
    paper: Annotated[list[str] | None, typer.Option("--paper", "-p", help="Named in this paper (repeatable).")] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, max=3, help="How far from the entity.")] = 1,
    limit: Annotated[int, typer.Option("--limit", min=1, help="The most relations, the heaviest first.")] = 40,
    png: Annotated[Path | None, typer.Option("--png", help="Draw it into this file.")] = None,
    graphml: Annotated[Path | None, typer.Option("--graphml", help="Write it as GraphML into this file.")] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what stands round an entity in the graph, and where the papers say so."""
    from paperscope_core.codec import to_json

    with open_library(library=library, config=config) as opened:
        found = opened.neighbourhood(entity, papers=paper or (), steps=steps, limit=limit)
        if as_json:
            typer.echo(to_json(found, indent=2))
        else:
            stdout().print(neighbourhood_view(found))
    for file in write_graph_files(found, png=png, graphml=graphml):
        stderr().print(Text(f"wrote {file}"))


def ask_one(
    library: Library, question: str, *, filters: Filters, history: Sequence[Turn] = (), as_json: bool = False
) -> None:
    """Ask, tell what is being done, and print the answer."""
    with stderr().status("") as status:
        answer = library.ask(
            question, filters=filters, history=history, on_stage=lambda stage: status.update(f"{stage} …")
        )
    if as_json:
        typer.echo(to_json(answer, indent=2))
    else:
        stdout().print(answer_view(answer, name_of=lambda element: element_name(library.element(element))))


def read_history(files: Sequence[Path]) -> list[Turn]:
    """The turns that answers in files end. Raises InputError."""
    turns = []
    for file in files:
        try:
            turns.append(Turn.of(from_json(Answer, file.read_text(encoding="utf-8"))))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it holds no answer"
            raise InputError(f"--after {file}: {reason}; name a file that `paperscope ask --json` wrote") from error
    return turns


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


def run_batch(
    library: Library, questions: Sequence[Question | BadQuestion], *, out: Path, show: bool, at_once: int
) -> int:
    """Answer all questions into `out`; returns how many rows ended in an error."""
    result = _run_with_progress(BatchRunner(library, out=out, concurrency=at_once), questions, out)
    if show:
        for row in result.rows:
            _show_row(library, row)
    errors = [row for row in result.rows if row.status == "error"]
    for row in errors:
        stderr().print(Text(f"error: question {row.index + 1}: {'; '.join(row.warnings)}", style="red"))
    lines = [*summary_lines(result.summary), f"Results: {out}/answers.jsonl, {out}/answers.csv, {out}/report.md"]
    stdout().print(Text("\n".join(lines)))
    return len(errors)


def _run_with_progress(runner: BatchRunner, questions: Sequence[Question | BadQuestion], out: Path) -> BatchResult:
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


def _show_row(library: Library, row: BatchRow) -> None:
    if row.answer is not None:
        stdout().print(answer_view(row.answer, name_of=lambda element: element_name(library.element(element))))


def neighbourhood_view(found: Neighbourhood) -> RenderableType:
    """The entity with its places, and a row for each relation."""
    center = found.center
    names = {entity.id: entity.name for entity in found.entities}
    parts: list[RenderableType] = [Text(f"{center.name}  ({center.type})", style="bold")]
    if center.aliases:
        parts.append(Text(f"also: {', '.join(center.aliases)}"))
    parts.append(Text(center.description))
    parts.append(Text(found.where(center.sources), style="magenta"))
    grid = Grid(box=box.SIMPLE_HEAD)
    for name, ratio in (("from", 2), ("relation", 1), ("to", 2), ("what it says", 4), ("where", 2)):
        grid.add_column(name, overflow="fold", ratio=ratio)
    for relation in found.relations:
        ends = (Text(names[relation.source]), Text(relation.kind), Text(names[relation.target]))
        grid.add_row(*ends, Text(relation.description), Text(found.where(relation.sources), style="magenta"))
    return Group(*parts, grid if found.relations else Text("No relations."))


def write_graph_files(found: Neighbourhood, *, png: Path | None, graphml: Path | None) -> list[Path]:
    """The files that were asked for. Raises OutputError, and InputError for a drawing without matplotlib."""
    if graphml:
        write_atomically(graphml, found.to_graphml())
    if png:
        try:
            drawing = found.to_png()
        except ImportError as error:
            raise InputError('--png needs matplotlib: pip install "paperscope[plots]"') from error
        write_atomically(png, drawing)
    return [file for file in (graphml, png) if file]
