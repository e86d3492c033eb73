"""`paperscope ask`, `batch` and `graph`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.status import Status
from rich.table import Table as Grid
from rich.text import Text

from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError
from paperscope_core.types import Answer, AskRequest, Filters, TextEvent, Turn, Usage
from service.cli.options import ConfigOption, JsonOption, LibraryOption, open_library
from service.cli.terminal import (
    USAGE_COLUMNS,
    answer_view,
    print_json,
    print_line,
    print_note,
    stderr,
    stdout,
    usage_cells,
)

if TYPE_CHECKING:
    from paperscope.library import Library, Neighbourhood
    from service.batch import BadQuestion, BatchEstimate, BatchResult, BatchRow, BatchRunner, Question

__all__ = ["NO_MODEL", "EstimateOption", "ask", "batch", "bounds_view", "counting", "graph"]

NO_MODEL = (
    "No model was used. `paperscope setup` sets one up; `paperscope mcp --install CLIENT` lets that of Claude, "
    "Cursor or VS Code read the library."
)

MEAN_SPEED = 86_400.0
"""The seconds over which the speed of questions is estimated: they end in bursts, because several are asked at once."""

PaperOption = Annotated[
    list[str] | None, typer.Option("--paper", "-p", help="Only in this paper, or in those of '#TAG' (repeatable).")
]
SectionOption = Annotated[
    list[str] | None,
    typer.Option("--section", help="Only in sections of this number or title, or below them (repeatable)."),
]
KindOption = Annotated[
    list[str] | None,
    typer.Option("--kind", help="Only text, table, figure, equation or reference (repeatable)."),
]
YearOption = Annotated[
    str | None, typer.Option("--year", help="Only papers of this year or span: 2020, 2018-2020, 2018-, -2020.")
]
EstimateOption = Annotated[
    bool, typer.Option("--estimate", help="Only estimate model calls, tokens and cost; no language model is asked.")
]
AfterOption = Annotated[
    list[Path] | None,
    typer.Option("--after", help="An answer (--json) that this question follows up (repeatable, oldest first)."),
]


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    *,
    paper: PaperOption = None,
    section: SectionOption = None,
    kind: KindOption = None,
    year: YearOption = None,
    after: AfterOption = None,
    each_paper: Annotated[
        bool,
        typer.Option("--each-paper", help="Ask each paper, a model call for each, and conclude from what they say."),
    ] = False,
    estimate: EstimateOption = False,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question and cite the places of its evidence. Exits with 0 even if the papers don't answer it."""
    filters = Filters.of(papers=paper or (), sections=section or (), kinds=kind or (), years=year)
    history = _read_history(after or ())
    with open_library(library=library, config=config) as opened:
        request = AskRequest.of(question, filters=filters, history=history, each_paper=each_paper)
        if estimate:
            found = opened.wait(opened.question_estimator().estimate(request))
            title = "Estimated model usage of the question"
            stdout().print(bounds_view(title, found.least, found.most, when="if the first answer is final"))
            return
        with stderr().status("") as status:
            answer = opened.wait(_ask_visibly(opened, request, status))
        if as_json:
            print_json(to_json(answer, indent=2))
        else:
            stdout().print(answer_view(answer))
            if not answer.model and answer.context.sources:
                print_note(NO_MODEL, style="dim")


def batch(
    questions: Annotated[Path, typer.Argument(help="The questions: JSON lines, CSV, or one a line (.txt, .md).")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for answers.jsonl, answers.csv and report.md.")],
    show: Annotated[bool, typer.Option("--show", help="Print each answer as well.")] = False,
    paper: Annotated[
        list[str] | None,
        typer.Option("--paper", "-p", help="Only in this paper (repeatable), for questions that name no papers."),
    ] = None,
    estimate: EstimateOption = False,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="How many questions are asked at a time.")] = 4,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Answer a file of questions. Run again, it resumes where it stopped."""
    from service.batch import BatchRunner, Question, load_questions, summary_lines

    asked = [
        replace(question, filters=replace(question.filters, papers=tuple(paper)))
        if paper and isinstance(question, Question) and not question.filters.papers
        else question
        for question in load_questions(questions)
    ]
    with open_library(library=library, config=config) as opened:
        runner = BatchRunner(opened, out=out, concurrency=at_once)
        if estimate:
            with stderr().status("estimating …"):
                found = runner.estimate(asked)
            stdout().print(_estimate_view(found))
            return
        result = _run_with_progress(runner, asked, out)
        if show:
            for row in result.rows:
                if row.answer is not None:
                    stdout().print(answer_view(row.answer))
    errors = [row for row in result.rows if row.status == "error"]
    for row in errors:
        print_note(f"error: question {row.index + 1}: {row.error}", style="red")
    lines = [*summary_lines(result.summary), f"Results: {out}/answers.jsonl, {out}/answers.csv, {out}/report.md"]
    print_line("\n".join(lines))
    raise typer.Exit(1 if errors else 0)


def _estimate_view(estimate: "BatchEstimate") -> Grid:
    title = f"Estimated model usage of {estimate.questions} questions"
    return bounds_view(title, estimate.least, estimate.most, when="if every first answer is final")


def bounds_view(title: str, least: Mapping[str, Usage], most: Mapping[str, Usage], *, when: str) -> Grid:
    """Return estimated usages by role; `when` says when the lower ones are right."""
    grid = Grid(box=box.SIMPLE_HEAD, title=title)
    grid.title_justify = "left"
    grid.add_column("")
    grid.add_column("role")
    for name in USAGE_COLUMNS:
        grid.add_column(name, justify="right")
    for bound, roles in {when: least, "at most, with images and look-ups": most}.items():
        for role, usage in roles.items():
            grid.add_row(bound, role, *usage_cells(usage))
        grid.add_row(bound, "all roles", *usage_cells(sum(roles.values(), Usage())), style="bold")
        grid.add_section()
    return grid


def graph(
    entity: Annotated[str, typer.Argument(help="An entity's name, or another name of it.")],
    *,
    paper: Annotated[list[str] | None, typer.Option("--paper", "-p", help="Named in this paper (repeatable).")] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, max=3, help="How many relations away from the entity.")] = 1,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many relations, by weight.")] = 40,
    png: Annotated[Path | None, typer.Option("--png", help="Draw it into this file.")] = None,
    graphml: Annotated[Path | None, typer.Option("--graphml", help="Write it as GraphML into this file.")] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show an entity's neighbourhood in the graph, and where the papers state its relations."""
    with open_library(library=library, config=config) as opened:
        found = opened.neighbourhood(entity, papers=paper or (), steps=steps, limit=limit)
        if as_json:
            print_json(to_json(found, indent=2))
        else:
            stdout().print(_neighbourhood_view(found))
    for file in _write_graph_files(found, png=png, graphml=graphml):
        print_note(f"wrote {file}")


async def _ask_visibly(library: "Library", request: AskRequest, status: Status) -> Answer:
    """Ask with the stage and, in a terminal, the text so far in a status line: a draft, until the answer is final."""
    stage, draft = "", ""

    def show() -> None:
        status.update(Text(f"{stage} …\n{draft}".rstrip()))

    def on_stage(begun: str) -> None:
        nonlocal stage
        stage = begun
        show()

    def on_text(piece: TextEvent) -> None:
        nonlocal draft
        draft = piece.text if piece.anew else draft + piece.text
        show()

    return await library.answer(request, on_stage=on_stage, on_text=on_text if stderr().is_terminal else None)


def _read_history(files: Sequence[Path]) -> list[Turn]:
    """Return the turns from files with answers. Raises InputError."""
    turns = []
    for file in files:
        try:
            turns.append(Turn.of(from_json(Answer, file.read_text(encoding="utf-8"))))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it holds no answer"
            raise InputError(f"--after {file}: {reason}; name a file that `paperscope ask --json` wrote") from error
    return turns


def counting(what: str) -> Progress:
    """Return a progress bar that counts what is done."""
    said = TextColumn("{task.description}", markup=False)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), said)
    return Progress(*columns, console=stderr(), transient=True, speed_estimate_period=MEAN_SPEED)


def _run_with_progress(
    runner: "BatchRunner", questions: "Sequence[Question | BadQuestion]", out: Path
) -> "BatchResult":
    from service.batch import BadQuestion

    bad = {question.index for question in questions if isinstance(question, BadQuestion)}
    total, done = len(questions) - len(bad), 0
    with counting("answering") as progress:
        task = progress.add_task("", total=total)

        def on_row(row: "BatchRow") -> None:
            nonlocal total, done
            done += row.status != "error"
            if row.resumed:
                # Rows of an earlier run don't indicate how long the others take.
                total -= 1
                progress.update(task, total=total, description=f"{done} from an earlier run")
            elif row.index not in bad:
                progress.advance(task)

        try:
            return runner.run(questions, on_row=on_row)
        except KeyboardInterrupt:
            progress.console.print(Text(f"{done} of {len(questions)} questions are answered and kept in {out}"))
            raise


def _neighbourhood_view(found: "Neighbourhood") -> RenderableType:
    """Return the entity with its places, and each relation with what it says and where."""
    center = found.center
    names = {entity.id: entity.name for entity in found.entities}
    parts: list[RenderableType] = [Text(f"{center.name}  ({center.type})", style="bold")]
    if center.aliases:
        parts.append(Text(f"also: {', '.join(center.aliases)}"))
    parts += [Text(center.description), Text(found.where(center.sources), style="magenta")]
    parts += [Text(f"“{one.quote}”").append(f"  {one.name}", style="magenta") for one in found.definitions]
    parts.append(Text(""))
    for relation in found.relations:
        parts.append(Text(f"{names[relation.source]} — {relation.kind} → {names[relation.target]}", style="cyan"))
        said = Text(relation.description).append(f"  {found.where(relation.sources)}", style="magenta")
        parts.append(Padding(said, (0, 0, 0, 2)))
    return Group(*parts) if found.relations else Group(*parts, Text("No relations."))


def _write_graph_files(found: "Neighbourhood", *, png: Path | None, graphml: Path | None) -> list[Path]:
    """Write the requested files. Raises OutputError, and InputError for a drawing without matplotlib."""
    from paperscope_core.files import write_atomically

    if graphml:
        write_atomically(graphml, found.to_graphml())
    if png:
        try:
            drawing = found.to_png()
        except ImportError as error:
            raise InputError('--png needs matplotlib: pip install "paperscope[plots]"') from error
        write_atomically(png, drawing)
    return [file for file in (graphml, png) if file]
