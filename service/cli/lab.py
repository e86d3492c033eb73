"""The commands of the laboratory, which the distribution paperscope-lab registers as entry points."""

from importlib.metadata import entry_points
from typing import Annotated

import typer
from typer.core import TyperGroup

from paperscope_core.errors import InputError

__all__ = ["LabCommands"]

_GROUP = "paperscope.commands"
_COMMANDS = {"eval": "Measure Paperscope against gold.", "ner": "Train, score and compare entity extractors."}


class LabCommands(TyperGroup):
    """The commands of the product, and those of the laboratory, which are imported when they are needed."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override] # typer's own class
        """Return the names of all commands."""
        return [*super().list_commands(ctx), *_COMMANDS]

    def get_command(self, ctx: typer.Context, cmd_name: str) -> object:  # type: ignore[override] # typer's own class
        """Return a command by its name, None if there is none."""
        if cmd_name not in _COMMANDS:
            return super().get_command(ctx, cmd_name)
        for entry_point in entry_points(group=_GROUP, name=cmd_name):
            command = typer.main.get_command(entry_point.load())
            command.name = cmd_name
            return command
        return _missing(cmd_name)


def _missing(name: str) -> object:
    """Return a command that says how to install the laboratory."""
    app = typer.Typer(add_completion=False)

    @app.command(
        name=name,
        help=f"{_COMMANDS[name]} Needs paperscope-lab.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    def missing(_arguments: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
        raise InputError(
            f"`paperscope {name}` is part of the laboratory: pip install paperscope-lab "
            "(in a checkout: pip install ./lab)"
        )

    return typer.main.get_command(app)
