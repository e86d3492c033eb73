"""The files that a command's paths stand for, and how a failure of one is told."""

import json
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from ingest import paper_files
from paperscope.errors import InputError

__all__ = ["expand_paths", "report_failure"]


def expand_paths(paths: Sequence[Path], *, as_json: bool, progress: Console) -> tuple[list[Path], int]:
    """The files that `paths` stand for, each once, and how many paths stand for none, which is reported."""
    files: dict[Path, None] = {}
    failed = 0
    for path in paths:
        try:
            files.update(dict.fromkeys(paper_files(path)))
        except InputError as error:
            failed += 1
            report_failure(path, error, as_json=as_json, progress=progress)
    return list(files), failed


def report_failure(path: Path, error: Exception, *, as_json: bool, progress: Console) -> None:
    """Say that a file failed, and why: a row of JSON on stdout, or an error on stderr."""
    if as_json:
        typer.echo(json.dumps({"file": str(path), "outcome": "failed", "error": str(error)}, ensure_ascii=False))
    else:
        progress.print(Text(f"error: {error}", style="red"))
