"""`paperscope migrate`: a library to another place."""

from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from paperscope_core.errors import InputError
from paperscope_core.locations import Location, parse_location
from service.cli.options import JsonOption
from service.cli.terminal import print_json, print_line, stderr

__all__ = ["migrate"]


def migrate(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The library: a folder, or postgresql://...?files=...")],
    target: Annotated[str, typer.Argument(metavar="TO", help="An empty place, or one to which a copy was begun.")],
    as_json: JsonOption = False,
) -> None:
    """Copy a library to another place, such as from a folder to PostgreSQL or back, and compare the copy with it.

    The library is copied as it is at one moment, also while papers are added, and is not changed. The same command
    continues a copy that was killed.
    """
    from graph_store.copying import copy_library

    places = _location(source, name="FROM"), _location(target, name="TO")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=stderr(), transient=True, disable=not stderr().is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def on_progress(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        report = copy_library(*places, on_progress=on_progress)
    if as_json:
        print_json({"to": str(places[1]), "rows": dict(report.rows), "files": report.files})
        return
    counts = ", ".join(f"{count} {name}" for name, count in report.rows.items())
    print_line(f"copied to {places[1]} and compared: {counts or 'no rows'}; {report.files} files")


def _location(text: str, *, name: str) -> Location:
    try:
        return parse_location(text)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error
