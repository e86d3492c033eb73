"""`paperscope add`, `papers`, `show` and `remove`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from paperscope.library import AddResult, Estimate, Library
from paperscope_core.codec import to_json
from paperscope_core.errors import BudgetError, InputError, ModelError, ModelUnavailableError
from paperscope_core.models import Budget
from paperscope_core.settings import Settings
from paperscope_core.types import Usage
from service.cli.display import extent, paper_view, papers_view, problem_line, stderr, stdout
from service.cli.options import (
    ConfigOption,
    JsonOption,
    LibraryOption,
    PasswordFileOption,
    PasswordOption,
    expand_paths,
    open_library,
    read_password,
    read_settings,
    report_failure,
)

__all__ = [
    "add",
    "add_all",
    "estimate_all",
    "make_budget",
    "papers",
    "parse",
    "remaining_work",
    "remove",
    "show",
    "show_paper",
]


def add(
    paths: Annotated[
        list[Path], typer.Argument(help="Papers, or folders of papers: PDF, Markdown, HTML, DOCX, text, JATS, TEI.")
    ],
    *,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what models would take: calls, tokens, cost. Free.")
    ] = False,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", min=0, help="Stop before more calls than these are sent to models.")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", min=0, help="Stop before models cost more, by the prices that are set."),
    ] = None,
    password: PasswordOption = None,
    password_file: PasswordFileOption = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add papers. An unchanged file costs nothing; an edited one replaces its older version.

    A bound that is met ends it with exit code 5; what was paid for is kept, and the same command with more goes on."""

    secret = read_password(password, password_file)
    budget = make_budget(read_settings(library=library, config=config), max_calls=max_calls, max_cost=max_cost)
    with open_library(library=library, config=config, budget=budget) as opened:
        failed = (estimate_all if estimate else add_all)(opened, paths, as_json=as_json, password=secret)
    raise typer.Exit(1 if failed else 0)


def parse(
    paths: Annotated[
        list[Path], typer.Argument(help="Papers, or folders of papers: PDF, Markdown, HTML, DOCX, text, JATS, TEI.")
    ],
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder for the files that are written.")] = None,
    formats: Annotated[
        str, typer.Option("--format", "-f", help="Which files: some of json,markdown,html,csv.")
    ] = "json,markdown,html,csv",
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Also draw what was read over each page's picture.")
    ] = False,
    password: PasswordOption = None,
    password_file: PasswordFileOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what is read from papers as JSON, Markdown, HTML and CSV, without a library."""
    from ingest.export import check_formats
    from service.cli.parse import ParseJob, parse_all

    if out is None and not as_json:
        raise InputError("nowhere to write to: name a folder with --out, or print the paper with --json")
    if out is None and overlay:
        raise InputError("--overlay draws files: name a folder for them with --out")
    job = ParseJob(
        out=out,
        formats=check_formats(formats.split(",")),
        overlay=overlay,
        password=read_password(password, password_file),
        as_json=as_json,
    )
    failed = parse_all(read_settings(library=None, config=config), paths, job)
    raise typer.Exit(1 if failed else 0)


def papers(library: LibraryOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """List the papers of the library."""
    from paperscope_core.codec import to_json

    with open_library(library=library, config=config) as opened:
        found = opened.papers()
    if as_json:
        for paper in found:
            typer.echo(to_json(paper))
    else:
        stdout().print(papers_view(found))


def show(
    paper: Annotated[str, typer.Argument(help="A paper's id, the start of it, its file name or part of its title.")],
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was read from a paper: sections, tables, figures, equations, what was seen in pictures, problems."""

    with open_library(library=library, config=config) as opened:
        show_paper(opened, paper, as_json=as_json)


def remove(
    paper: Annotated[str, typer.Argument(help="A paper's id, the start of it, its file name or part of its title.")],
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Remove a paper and exactly what it brought to the library."""
    with open_library(library=library, config=config) as opened:
        gone = opened.remove(paper)
    stdout().print(Text(f"removed {gone.id}  {gone.title}"))


def make_budget(settings: Settings, *, max_calls: int | None, max_cost: float | None) -> Budget | None:
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
        stdout().print(_estimates_view(estimates))
    return failed + len(errors)


def remaining_work(library: Library, files: Sequence[Path], *, total: int, password: str | None) -> str:
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


def _estimates_view(estimates: Sequence[Estimate]) -> Grid:
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
            raise BudgetError(
                f"{error}; {remaining_work(library, left, total=len(files), password=password)}"
            ) from None
        except (InputError, ModelError) as error:
            if isinstance(error, ModelUnavailableError):
                raise
            failed += 1
            report_failure(file, error, as_json=as_json, progress=progress)
        else:
            _report_added(file, added, as_json=as_json, results=results)
    return failed


def _report_added(file: Path, added: AddResult, *, as_json: bool, results: Console) -> None:
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


def show_paper(library: Library, name: str, *, as_json: bool) -> None:
    """Print the paper that `name` means. Raises UnknownPaperError."""
    found = library.paper(name)
    images, shortfall = library.images(found.id), library.shortfall(found.id)
    if as_json:
        parts = {"images": json.loads(to_json(images)), "shortfall": json.loads(to_json(shortfall))}
        typer.echo(json.dumps(json.loads(to_json(found)) | parts, ensure_ascii=False, indent=2))
    else:
        degrees = library.most_connected(found.id, limit=12)
        stdout().print(paper_view(found, degrees, images=images, shortfall=shortfall))
