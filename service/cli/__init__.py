"""The command line `paperscope`; `commands.py` lists its commands."""

from paperscope_core.processes import collect_rarely

collect_rarely()

from service.cli.commands import app, main  # noqa: E402 # imports take less time now

__all__ = ["app", "main"]
