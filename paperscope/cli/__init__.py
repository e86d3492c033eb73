"""The command line: `app.py` lists the commands."""

from paperscope.cli.app import app, main

__all__ = ["app", "main"]
