"""The commands, and their exit codes on errors. Results go to stdout, progress and errors to stderr.

Commands import the libraries they need when they run, so that `--help` responds at once.
"""

import os
import sys
from contextlib import suppress
from importlib.metadata import version
from typing import Annotated

import typer
from rich import box
from rich.console import Group
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from paperscope_core.errors import BudgetError, OutputError, PaperscopeError
from service.cli.doctor_command import doctor
from service.cli.key_commands import keys_app
from service.cli.lab import WithLabCommands
from service.cli.lightrag_commands import lightrag_app
from service.cli.mcp_command import mcp
from service.cli.migrate import migrate
from service.cli.note_commands import note, notes, tag
from service.cli.number_commands import check, results
from service.cli.options import ConfigOption, JsonOption, LibraryOption, new_app, print_notes, read_settings
from service.cli.paper_commands import add, papers, read, remove, show, watch
from service.cli.parse import parse
from service.cli.question_commands import ask, batch, graph
from service.cli.record_commands import bibliography, complete, edit
from service.cli.setup_command import setup
from service.cli.table_command import table
from service.cli.terminal import escape_unencodable, print_json, print_note, print_text, stdout

__all__ = ["app", "main"]

# Typer's exit code after Ctrl-C: 128 plus the number of SIGINT.
_EXIT_INTERRUPTED = 130


app = new_app("Ask your papers a question, get an answer that you can check.", group=WithLabCommands)


def _print_version(wanted: bool) -> None:
    if wanted:
        print_text(f"paperscope {version('paperscope')}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Ask your papers a question, get an answer that you can check."""


def serve(
    *,
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on; beyond 127.0.0.1 it needs API keys.")
    ] = None,
    port: Annotated[int | None, typer.Option("--port", help="The port to listen on.")] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="How many processes answer the requests.")
    ] = None,
    root_path: Annotated[
        str | None, typer.Option("--root-path", help="The path of the service behind a reverse proxy, such as /papers.")
    ] = None,
    no_jobs: Annotated[
        bool, typer.Option("--no-jobs", help="Take no jobs, such as papers to add; `paperscope worker` does them.")
    ] = False,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Serve the library over HTTP, with a web page, until Ctrl-C. Unfinished jobs continue when it is started again."""
    from service.http import serve as serve_http

    # Everything that the service writes is its user's alone.
    os.umask(0o077)
    jobs = 0 if no_jobs else None
    given = {"host": host, "port": port, "workers": workers, "root_path": root_path, "jobs_at_once": jobs}
    overrides = {f"service.{name}": value for name, value in given.items()}
    settings = read_settings(library=library, config=config, overrides=overrides)
    print_notes(settings)

    def on_started(address: str) -> None:
        # A log in JSON has no other lines.
        if settings.service.log == "text":
            print_note(f"Open {address} in a browser.")

    serve_http(settings, on_started=on_started)


def worker(
    *,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="How many jobs run at once.")] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Do jobs (papers to add, batches) that services queue, until Ctrl-C. Any number of workers, on any number of
    machines, may share a library."""
    from service.jobs import do_jobs

    # Everything that a worker writes is its user's alone.
    os.umask(0o077)
    settings = read_settings(library=library, config=config, overrides={"service.jobs_at_once": jobs})
    print_notes(settings)
    do_jobs(settings)


def show_config(library: LibraryOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Show the settings in force and where each comes from; keys are masked."""
    settings = read_settings(library=library, config=config)
    if as_json:
        values = {row.name: {"value": row.value, "origin": row.origin} for row in settings.describe()}
        print_json({"settings": values, "notes": settings.notes()}, indent=2)
        return
    grid = Grid(*(Column(name, overflow="fold") for name in ("setting", "value", "from")), box=box.SIMPLE_HEAD)
    for row in settings.describe():
        grid.add_row(row.name, Text(row.value), Text(row.origin, style="dim" if row.origin == "default" else ""))
    stdout().print(Group(grid, *(Text(f"! {note}", style="yellow") for note in settings.notes())))


for _command in (
    add,
    watch,
    parse,
    papers,
    ask,
    batch,
    table,
    show,
    read,
    check,
    results,
    graph,
    complete,
    edit,
    bibliography,
    tag,
    note,
    notes,
    remove,
    serve,
    mcp,
    worker,
    migrate,
    doctor,
    setup,
):
    app.command()(_command)
app.command(name="config")(show_config)
app.add_typer(keys_app, name="keys")
app.add_typer(lightrag_app, name="lightrag")


def main() -> None:
    """Run the command line; every known error exits with one message and its exit code."""
    escape_unencodable()
    try:
        app()
    except PaperscopeError as error:
        prefix = "stopped" if isinstance(error, BudgetError) else "error"
        # Nothing can be said if that is what can't be written.
        with suppress(OutputError):
            print_note(f"{prefix}: {error}", style="red")
        sys.exit(error.exit_code)
    except SystemExit as end:
        if end.code == _EXIT_INTERRUPTED:
            print_note("stopped: what is finished is kept; run the same command again to continue")
        raise
