"""The commands about papers, `paperscope add`, `parse`, `papers`, `show`, `remove`, which `adding.py`, … carry out."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from paperscope.cli.display import papers_view, stdout
from paperscope.cli.options import (
    ConfigOption,
    JsonOption,
    LibraryOption,
    PasswordFileOption,
    PasswordOption,
    open_library,
    read_password,
    read_settings,
)
from paperscope.errors import InputError

__all__ = ["add", "papers", "parse", "remove", "show"]


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


def remove(
    paper: Annotated[str, typer.Argument(help="A paper's id, the start of it, its file name or part of its title.")],
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Remove a paper and exactly what it brought to the library."""
    with open_library(library=library, config=config) as opened:
        gone = opened.remove(paper)
    stdout().print(Text(f"removed {gone.id}  {gone.title}"))
