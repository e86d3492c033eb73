"""`paperscope add`: many files, one after the other, with progress; a bad one never stops the rest."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from paperscope.cli.display import extent, problem_line, stderr, stdout
from paperscope.cli.estimating import what_is_left
from paperscope.cli.paths import expand_paths, report_failure
from paperscope.errors import BudgetError, InputError, ModelError, ModelUnavailableError
from paperscope.library import Added, Library
from paperscope.types import Usage

__all__ = ["add_all"]


def add_all(library: Library, paths: Sequence[Path], *, as_json: bool, password: str | None = None) -> int:
    """Add every file that `paths` stand for; returns how many paths or files failed. `password` opens encrypted ones.

    A file's own fault is reported and passed over. A fault of the library or of a model endpoint, which every further
    file would meet again, is raised; so is the end of a budget, with what finishing costs.
    """
    progress, results = stderr(), stdout()
    files, failed = expand_paths(paths, as_json=as_json, progress=progress)
    for number, file in enumerate(files, start=1):
        head = f"[{number}/{len(files)}] {file.name}"
        try:
            with progress.status("") as status:
                added = library.add(
                    file,
                    password=password,
                    on_stage=lambda stage, head=head: status.update(Text(f"{head}: {stage} …")),  # type: ignore[misc]
                )
        except BudgetError as error:
            left = files[number - 1 :]
            raise BudgetError(f"{error}; {what_is_left(library, left, total=len(files), password=password)}") from None
        except (InputError, ModelError) as error:
            if isinstance(error, ModelUnavailableError):
                raise
            failed += 1
            report_failure(file, error, as_json=as_json, progress=progress)
        else:
            _report(file, added, as_json=as_json, results=results)
    return failed


def _report(file: Path, added: Added, *, as_json: bool, results: Console) -> None:
    paper = added.paper
    if as_json:
        row = {"file": str(file), "outcome": added.outcome, "paper": paper.id, "title": paper.title}
        numbers = {"pages": len(paper.pages), "seconds": round(added.seconds, 3), "usage": asdict(added.usage)}
        problems = {"problems": [asdict(problem) for problem in paper.problems]}
        seen = {name: len(getattr(added.images, name)) for name in ("descriptions", "skipped", "unread")}
        typer.echo(
            json.dumps(
                {**row, **numbers, "images": seen, "shortfall": asdict(added.shortfall), **problems}, ensure_ascii=False
            )
        )
        return
    took = [extent(paper), f"{added.seconds:.1f} s"]
    if added.usage != Usage():
        took.append(str(added.usage))
    if added.images.unread:
        took.append(f"{len(added.images.unread)} images unread: add the file again to retry")
    if added.shortfall.unread:
        took.append(f"{len(added.shortfall.unread)} chunks unread: add the file again to retry")
    if added.shortfall.unjudged:
        took.append(f"{len(added.shortfall.unjudged)} pairs of names unjudged: add the file again to retry")
    if added.shortfall.unsummarised:
        took.append(f"{len(added.shortfall.unsummarised)} entities not summed up: add the file again to retry")
    results.print(Text(f"{added.outcome:9} {paper.id}  {paper.title}  ({', '.join(took)})"))
    for problem in paper.problems:
        results.print(Text(f"          {problem_line(problem, paper)}", style="yellow"))
