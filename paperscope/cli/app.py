"""The commands: most open the library, call it, and print. Results go to stdout, progress and errors to stderr."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from paperscope.cli.display import papers_view, stderr, stdout
from paperscope.cli.evaluating import eval_app
from paperscope.cli.options import (
    AfterOption,
    ConfigOption,
    JsonOption,
    KindOption,
    LibraryOption,
    PaperOption,
    PasswordFileOption,
    PasswordOption,
    SectionOption,
    YearOption,
    open_library,
    read_password,
    read_settings,
)
from paperscope.errors import BudgetError, InputError, PaperscopeError

__all__ = ["app", "main"]

# What typer exits with after Ctrl-C: 128 and the number of SIGINT.
_STOPPED = 130

app = typer.Typer(
    help="Ask your papers a question, get an answer that you can check.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(eval_app, name="eval")


def main() -> None:
    """Run the command line; one clear message and an exit code for every error that we know."""
    try:
        app()
    except PaperscopeError as error:
        head = "stopped" if isinstance(error, BudgetError) else "error"
        stderr().print(Text(f"{head}: {error}", style="red"))
        sys.exit(error.exit_code)
    except SystemExit as end:
        if end.code == _STOPPED:
            stderr().print("stopped: what is finished is kept; run the same command again to go on")
        raise


@app.command()
def add(
    paths: Annotated[
        list[Path], typer.Argument(help="Papers, or folders of papers: PDF, Markdown, HTML, DOCX, text, JATS, TEI.")
    ],
    *,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what models would take: calls, tokens, cost. Free.")
    ] = False,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", min=0, help="Stop before more calls than these are sent to models.")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", min=0, help="Stop before models cost more, by the prices that are set."),
    ] = None,
    password: PasswordOption = None,
    password_file: PasswordFileOption = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add papers. An unchanged file costs nothing; an edited one replaces its older version.

    A bound that is met ends it with exit code 5; what was paid for is kept, and the same command with more goes on."""
    from paperscope.cli.adding import add_all
    from paperscope.cli.estimating import budget_of, estimate_all

    secret = read_password(password, password_file)
    budget = budget_of(read_settings(library=library, config=config), max_calls=max_calls, max_cost=max_cost)
    with open_library(library=library, config=config, budget=budget) as opened:
        failed = (estimate_all if estimate else add_all)(opened, paths, as_json=as_json, password=secret)
    raise typer.Exit(1 if failed else 0)


@app.command()
def parse(
    paths: Annotated[
        list[Path], typer.Argument(help="Papers, or folders of papers: PDF, Markdown, HTML, DOCX, text, JATS, TEI.")
    ],
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder for the files that are written.")] = None,
    formats: Annotated[
        str, typer.Option("--format", "-f", help="Which files: some of json,markdown,html,csv.")
    ] = "json,markdown,html,csv",
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Also draw what was read over each page's picture.")
    ] = False,
    password: PasswordOption = None,
    password_file: PasswordFileOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what is read from papers as JSON, Markdown, HTML and CSV, without a library."""
    from ingest.export import checked_formats
    from paperscope.cli.parsing import ParseJob, parse_all

    if out is None and not as_json:
        raise InputError("nowhere to write to: name a folder with --out, or print the paper with --json")
    if out is None and overlay:
        raise InputError("--overlay draws files: name a folder for them with --out")
    job = ParseJob(
        out=out,
        formats=checked_formats(formats.split(",")),
        overlay=overlay,
        password=read_password(password, password_file),
        as_json=as_json,
    )
    failed = parse_all(read_settings(library=None, config=config), paths, job)
    raise typer.Exit(1 if failed else 0)


@app.command()
def papers(library: LibraryOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """List the papers of the library."""
    from paperscope.codec import to_json

    with open_library(library=library, config=config) as opened:
        found = opened.papers()
    if as_json:
        for paper in found:
            typer.echo(to_json(paper))
    else:
        stdout().print(papers_view(found))


@app.command()
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
    from paperscope.cli.asking import ask_one, read_history
    from paperscope.types import Filters

    filters = Filters.of(papers=paper or (), sections=section or (), kinds=kind or (), years=year)
    history = read_history(after or ())
    with open_library(library=library, config=config) as opened:
        ask_one(opened, question, filters=filters, history=history, as_json=as_json)


@app.command()
def batch(
    questions: Annotated[Path, typer.Argument(help="A JSONL file with a 'question' on each line.")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for answers.jsonl, report.md and images/.")],
    show: Annotated[bool, typer.Option("--show", help="Print each answer as well.")] = False,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="How many questions are asked at a time.")] = 4,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Answer a file of questions. Run again, it goes on where it stopped."""
    from paperscope.cli.batching import answer_all
    from service import load_questions

    asked = load_questions(questions)
    with open_library(library=library, config=config) as opened:
        failed = answer_all(opened, asked, out=out, show=show, at_once=at_once)
    raise typer.Exit(1 if failed else 0)


@app.command()
def show(
    paper: Annotated[str, typer.Argument(help="A paper's id, the start of it, its file name or part of its title.")],
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was read from a paper: sections, tables, figures, equations, what was seen in pictures, problems."""
    from paperscope.cli.showing import show_paper

    with open_library(library=library, config=config) as opened:
        show_paper(opened, paper, as_json=as_json)


@app.command()
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
    from paperscope.cli.graphing import neighbourhood_view, write_files
    from paperscope.codec import to_json

    with open_library(library=library, config=config) as opened:
        found = opened.neighbourhood(entity, papers=paper or (), steps=steps, limit=limit)
        if as_json:
            typer.echo(to_json(found, indent=2))
        else:
            stdout().print(neighbourhood_view(found))
    for file in write_files(found, png=png, graphml=graphml):
        stderr().print(Text(f"wrote {file}"))


@app.command()
def remove(
    paper: Annotated[str, typer.Argument(help="A paper's id, the start of it, its file name or part of its title.")],
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Remove a paper and exactly what it brought to the library."""
    with open_library(library=library, config=config) as opened:
        gone = opened.remove(paper)
    stdout().print(Text(f"removed {gone.id}  {gone.title}"))


@app.command(name="config")
def show_config(library: LibraryOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Show the settings in force and where each comes from; keys are masked."""
    from paperscope.cli.configuring import config_json, config_view

    settings = read_settings(library=library, config=config)
    if as_json:
        typer.echo(config_json(settings))
    else:
        stdout().print(config_view(settings))
