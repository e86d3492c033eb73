"""The command line: `paperscope add`, `parse`, `ask`, `batch`, `papers`, `show`, `remove`, `config`."""

from paperscope.cli.app import app, main

__all__ = ["app", "main"]
