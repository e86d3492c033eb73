"""The progress bar of commands that take minutes."""

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from service.cli.terminal import stderr

__all__ = ["progress_bar"]


def progress_bar(name: str) -> Progress:
    """Return a bar with a name, a count, the time that is left, and the task's description."""
    text = TextColumn("{task.description}", markup=False)
    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), text)
    return Progress(*columns, console=stderr(), transient=True)
