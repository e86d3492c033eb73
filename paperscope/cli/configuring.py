"""`paperscope config`: every setting, its value and where it comes from."""

import json

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from paperscope.cli.display import stdout
from paperscope.cli.options import ConfigOption, JsonOption, LibraryOption, read_settings
from paperscope.settings import Settings

__all__ = ["show_config"]


def show_config(library: LibraryOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Show the settings in force and where each comes from; keys are masked."""
    settings = read_settings(library=library, config=config)
    if as_json:
        typer.echo(_json(settings))
    else:
        stdout().print(_view(settings))


def _view(settings: Settings) -> RenderableType:
    """The settings for people, and what is set without effect."""
    grid = Grid(box=box.SIMPLE_HEAD)
    for name in ("setting", "value", "from"):
        grid.add_column(name, overflow="fold")
    for row in settings.describe():
        grid.add_row(row.name, Text(row.value), Text(row.origin, style="dim" if row.origin == "default" else ""))
    return Group(grid, *(Text(f"! {note}", style="yellow") for note in settings.notes()))


def _json(settings: Settings) -> str:
    """The settings for programs; keys are masked."""
    rows = {row.name: {"value": row.value, "origin": row.origin} for row in settings.describe()}
    return json.dumps({"settings": rows, "notes": settings.notes()}, indent=2, ensure_ascii=False)
