"""The commands, how errors end them, and `serve` and `config`."""

import json
import sys
from typing import Annotated

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from paperscope_core.errors import BudgetError, PaperscopeError
from paperscope_core.settings import Settings
from service.cli.display import stderr, stdout
from service.cli.evaluation import eval_app
from service.cli.keys import keys_app
from service.cli.options import ConfigOption, JsonOption, LibraryOption, read_settings
from service.cli.papers import add, papers, parse, remove, show
from service.cli.questions import ask, batch, graph

__all__ = ["app", "main", "serve", "show_config"]


def show_config(library: LibraryOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Show the settings in force and where each comes from; keys are masked."""
    settings = read_settings(library=library, config=config)
    if as_json:
        typer.echo(_settings_json(settings))
    else:
        stdout().print(_settings_view(settings))


def _settings_view(settings: Settings) -> RenderableType:
    """The settings for people, and what is set without effect."""
    grid = Grid(box=box.SIMPLE_HEAD)
    for name in ("setting", "value", "from"):
        grid.add_column(name, overflow="fold")
    for row in settings.describe():
        grid.add_row(row.name, Text(row.value), Text(row.origin, style="dim" if row.origin == "default" else ""))
    return Group(grid, *(Text(f"! {note}", style="yellow") for note in settings.notes()))


def _settings_json(settings: Settings) -> str:
    """The settings for programs; keys are masked."""
    rows = {row.name: {"value": row.value, "origin": row.origin} for row in settings.describe()}
    return json.dumps({"settings": rows, "notes": settings.notes()}, indent=2, ensure_ascii=False)


def serve(
    *,
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on; beyond 127.0.0.1 it takes API keys.")
    ] = None,
    port: Annotated[int | None, typer.Option("--port", help="The port to listen on.")] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Serve the library over HTTP. It ends with Ctrl-C; work under way goes on when it is started again."""
    from service.http import serve as run

    overrides = {"service.host": host, "service.port": port}
    settings = read_settings(library=library, config=config, overrides=overrides)
    for note in settings.notes():
        stderr().print(Text(f"! {note}", style="yellow"))
    run(settings)


# What typer exits with after Ctrl-C: 128 and the number of SIGINT.
_EXIT_INTERRUPTED = 130

app = typer.Typer(
    help="Ask your papers a question, get an answer that you can check.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _command in (add, parse, papers, ask, batch, show, graph, remove, serve):
    app.command()(_command)
app.command(name="config")(show_config)
app.add_typer(eval_app, name="eval")
app.add_typer(keys_app, name="keys")


def main() -> None:
    """Run the command line; one clear message and an exit code for every error that we know."""
    try:
        app()
    except PaperscopeError as error:
        head = "stopped" if isinstance(error, BudgetError) else "error"
        stderr().print(Text(f"{head}: {error}", style="red"))
        sys.exit(error.exit_code)
    except SystemExit as end:
        if end.code == _EXIT_INTERRUPTED:
            stderr().print("stopped: what is finished is kept; run the same command again to go on")
        raise
