"""`paperscope add --estimate`, and the budgets that an add may be given."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer
from rich import box
from rich.table import Table as Grid
from rich.text import Text

from paperscope.cli.display import stderr, stdout
from paperscope.cli.paths import expand_paths, report_failure
from paperscope.errors import InputError
from paperscope.library import Estimate, Library
from paperscope.models import Budget
from paperscope.settings import Settings
from paperscope.types import Usage

__all__ = ["budget_of", "estimate_all", "what_is_left"]


def budget_of(settings: Settings, *, max_calls: int | None, max_cost: float | None) -> Budget | None:
    """The budget of one command; None where it has no bounds.

    Raises InputError where a bound of the cost could never hold, as a model that is used has no price.
    """
    if max_calls is None and max_cost is None:
        return None
    priceless = [
        role
        for role in ("extract", "vision")
        if getattr(settings, role).configured and not getattr(settings, role).price_prompt
    ]
    if settings.embed.provider != "local" and not settings.embed.price_prompt:
        priceless.append("embed")
    if max_cost is not None and priceless:
        names = " and ".join(f"{role}.price_prompt" for role in priceless)
        raise InputError(f"--max-cost {max_cost:g} can't be kept: set {names}, or bound the calls with --max-calls")
    return Budget(max_calls=max_calls, max_cost=max_cost)


def estimate_all(library: Library, paths: Sequence[Path], *, as_json: bool, password: str | None = None) -> int:
    """Print what adding each file would take of each role's model; returns how many paths or files failed."""
    progress = stderr()
    files, failed = expand_paths(paths, as_json=as_json, progress=progress)
    estimates, errors = _estimates(library, files, password=password)
    for file, error in errors.items():
        report_failure(file, error, as_json=as_json, progress=progress)
    if as_json:
        for estimate in estimates:
            roles = {role: asdict(usage) for role, usage in estimate.roles.items()}
            row = {"file": str(estimate.file), "roles": roles, "total": asdict(estimate.total)}
            typer.echo(json.dumps(row, ensure_ascii=False))
    else:
        stdout().print(_view(estimates))
    return failed + len(errors)


def what_is_left(library: Library, files: Sequence[Path], *, total: int, password: str | None) -> str:
    """How far an add came that has these files of `total` before it, and what finishing would take, for people."""
    estimates, errors = _estimates(library, files, password=password)
    usage = sum((estimate.total for estimate in estimates), Usage())
    unknown = f" ({len(errors)} files can't be read)" if errors else ""
    return (
        f"{total - len(files)} of {total} files are done, and what was paid for is kept; finishing takes about "
        f"{usage.calls} calls, {_tokens(usage)}, cost {usage.cost:.4f}{unknown}; run the same command again with more"
    )


def _estimates(
    library: Library, files: Sequence[Path], *, password: str | None
) -> tuple[list[Estimate], dict[Path, InputError]]:
    estimator = library.estimator()
    estimates: list[Estimate] = []
    errors: dict[Path, InputError] = {}
    with stderr().status("") as status:
        for number, file in enumerate(files, start=1):
            head = f"[{number}/{len(files)}] {file.name}"
            status.update(Text(f"{head}: estimating …"))
            try:
                work = estimator.estimate(file, on_stage=lambda _stage: None, password=password)
                estimates.append(library.wait(work))
            except InputError as error:
                errors[file] = error
    return estimates, errors


def _view(estimates: Sequence[Estimate]) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, title="About what adding would take", title_justify="left")
    grid.add_column("file", overflow="fold")
    grid.add_column("role")
    for name in ("calls", "kept", "prompt tokens", "completion tokens", "cost"):
        grid.add_column(name, justify="right")
    totals: dict[str, Usage] = {}
    for estimate in estimates:
        for role, usage in estimate.roles.items():
            grid.add_row(Text(estimate.file.name), role, *_cells(usage))
            totals[role] = totals.get(role, Usage()) + usage
    grid.add_section()
    for role, usage in totals.items():
        grid.add_row("all files", role, *_cells(usage))
    grid.add_row("all files", "all roles", *_cells(sum(totals.values(), Usage())), style="bold")
    return grid


def _cells(usage: Usage) -> tuple[str, ...]:
    numbers = (usage.calls, usage.cached, usage.prompt_tokens, usage.completion_tokens)
    return (*map(str, numbers), f"{usage.cost:.4f}")


def _tokens(usage: Usage) -> str:
    return f"{usage.prompt_tokens} + {usage.completion_tokens} tokens"
