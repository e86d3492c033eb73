"""The command line `paperscope`; `app.py` lists its commands."""

from service.cli.app import app, main

__all__ = ["app", "main"]
