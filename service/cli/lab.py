"""The commands of the laboratory, which the distribution paperscope-lab registers as entry points."""

from functools import cached_property
from importlib.metadata import entry_points
from typing import cast

import typer
from typer.core import TyperGroup

from paperscope_core.errors import InputError

__all__ = ["WithLabCommands"]

_GROUP = "paperscope.commands"
_COMMANDS = {
    "eval": "Measure Paperscope against gold: your own, or a benchmark's (paperscope-lab).",
    "ner": "Train, score and compare entity extractors (paperscope-lab).",
}


class WithLabCommands(TyperGroup):
    """The commands of the product, and the groups of commands of the laboratory."""

    def __init__(self, **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type] # those of Typer
        for name, description in _COMMANDS.items():
            self.add_command(_LabCommands(name, description))


class _LabCommands(TyperGroup):
    """A group of commands that is imported when one of them is asked for, so that `paperscope --help` is as fast."""

    def __init__(self, name: str, description: str) -> None:
        super().__init__(name=name, help=description, no_args_is_help=True, rich_markup_mode=None)

    @cached_property
    def _group(self) -> TyperGroup:
        """The group that the laboratory registered. Raises InputError if it is not installed."""
        for entry_point in entry_points(group=_GROUP, name=str(self.name)):
            return cast("TyperGroup", typer.main.get_command(entry_point.load()))
        raise InputError(
            f"`paperscope {self.name}` is part of the laboratory; install it: pip install paperscope-lab "
            "(in a checkout: pip install ./lab)"
        )

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override] # Typer's own class
        """Return the names of the group's commands."""
        return self._group.list_commands(ctx)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> object:  # type: ignore[override] # Typer's own class
        """Return a command of the group by its name, None if there is none."""
        return self._group.get_command(ctx, cmd_name)
