"""`paperscope add`, `watch`, `papers`, `show`, `read` and `remove`."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich import box
from rich.table import Table as Grid
from rich.text import Text

from paperscope_core.codec import to_json
from paperscope_core.errors import (
    BudgetError,
    InputError,
    ModelError,
    ModelUnavailableError,
    PaperscopeError,
    StoreDamagedError,
)
from paperscope_core.locations import files_folder
from paperscope_core.paper_lookup import entries_of_work, matching_entries
from paperscope_core.types import Paper, PaperEntry, ToolCall, ToolName, Usage
from service.cli.options import (
    ConfigOption,
    JsonOption,
    LibraryOption,
    MaxCallsOption,
    MaxCostOption,
    PasswordFileOption,
    PasswordOption,
    PlacesArgument,
    find_each,
    make_budget,
    open_library,
    read_password,
    read_settings,
    report_failure,
)
from service.cli.terminal import (
    USAGE_COLUMNS,
    extent,
    paper_view,
    papers_view,
    print_json,
    print_line,
    print_note,
    retraction_line,
    stderr,
    stdout,
    usage_cells,
)

if TYPE_CHECKING:
    from paperscope.library import AddResult, Estimate, Library, PaperSource, Stage

__all__ = ["add", "papers", "read", "remove", "show", "watch"]

# By default: each paper that is read takes about 1 GB of memory.
_MOST_WORKERS = 4

PaperArgument = Annotated[
    str, typer.Argument(help="A paper's id, the start of it, its file name or part of its title.")
]


def add(
    paths: PlacesArgument = None,
    *,
    listed: Annotated[
        list[Path] | None,
        typer.Option("--list", help="A text file with a path or an s3:// address on each line."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="How many papers are read at once. [default: half of the CPUs, at most 4]"
        ),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only estimate model calls, tokens and cost. Free.")
    ] = False,
    max_calls: MaxCallsOption = None,
    max_cost: MaxCostOption = None,
    password: PasswordOption = None,
    password_file: PasswordFileOption = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add papers. An unchanged file costs nothing; an edited one replaces its older version.

    A DOI, an arXiv id or an https address is looked up if the setting records.contact names what may be contacted.
    A reference file (.bib, .ris, .json) or zotero:COLLECTION names several papers, with their files or ids.

    Exits with code 5 when the budget is exhausted; what was paid for is kept; the same command with more resumes."""
    from paperscope.sources import read_list

    places = [*(paths or ()), *(place for file in listed or () for place in read_list(file))]
    if not places:
        raise InputError("nothing to add: name papers, folders, DOIs or s3:// addresses, or a --list of them")
    secret = read_password(password, password_file)
    budget = partial(make_budget, roles=("extract", "vision"), max_calls=max_calls, max_cost=max_cost)
    with open_library(library=library, config=config, budget=budget) as opened:
        found, failed = find_each(places, opened.find, as_json=as_json)
        if not as_json:
            _report_left_out(places, found)
        if estimate:
            found = [one for one in found if not one.known]
            failed += _estimate_all(opened, found, as_json=as_json, password=secret)
        else:
            workers = workers or max(1, min(_MOST_WORKERS, (os.cpu_count() or 1) // 2))
            failed += _add_all(opened, found, workers=workers, as_json=as_json, password=secret)
    raise typer.Exit(1 if failed else 0)


def _report_left_out(places: Sequence[str], found: Sequence["PaperSource"]) -> None:
    """Say how many files of the folders that were named are no papers, by their suffixes."""
    from ingest.formats import left_out_files

    papers = {Path(source.address) for source in found if not source.is_remote}
    for place in places:
        counts = left_out_files(Path(place), papers)
        kinds = ", ".join(f"{count} {suffix or 'without suffix'}" for suffix, count in sorted(counts.items()))
        if kinds:
            print_note(f"{place}: left out {sum(counts.values())} files that are not read from a folder: {kinds}")


def papers(
    words: Annotated[
        str, typer.Argument(help="Only papers with these words in title, authors, file, venue or ids; '#TAG'.")
    ] = "",
    *,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the papers of the library. Exits with code 1 if one is damaged; the others are listed."""
    found: list[Paper] = []
    damaged = 0
    with open_library(library=library, config=config) as opened:
        tags = opened.tags()
        for entry in matching_entries(opened.entries(), words, tags=tags):
            try:
                found.append(opened.paper(entry.id))
            except StoreDamagedError as error:
                damaged += 1
                report_failure(Path(entry.file), error, as_json=as_json)
    if as_json:
        for paper in found:
            print_json(to_json(paper))
    elif found or not damaged:
        stdout().print(papers_view(found, tags))
    raise typer.Exit(1 if damaged else 0)


def show(
    paper: PaperArgument, library: LibraryOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """Show what was read from a paper: sections, tables, figures, equations, images, problems."""
    with open_library(library=library, config=config) as opened:
        found = opened.paper(paper)
        images, shortfall = opened.images(found.id), opened.shortfall(found.id)
        degrees = opened.most_connected(found.id, limit=12)
    if as_json:
        parts = {"images": json.loads(to_json(images)), "shortfall": json.loads(to_json(shortfall))}
        print_json({**json.loads(to_json(found)), **parts}, indent=2)
    else:
        stdout().print(paper_view(found, degrees, images=images, shortfall=shortfall))


def read(
    tool: Annotated[str, typer.Argument(help="search, section, element, page, reference, outline or papers.")],
    argument: Annotated[
        str, typer.Argument(help="What to look up: words, 4.2, 'Table 3', 6, '[29]'; an outline needs nothing.")
    ] = "",
    *,
    paper: Annotated[str, typer.Option("--paper", "-p", help="The paper: its id, file name or title.")] = "",
    part: Annotated[int, typer.Option("--part", min=1, help="Which part of a large result.")] = 1,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a part of a paper, whole: a section, a table, a page, a reference, the outline."""
    call = ToolCall(tool=cast("ToolName", tool), argument=argument, paper=paper, part=part)
    with open_library(library=library, config=config) as opened:
        result = opened.look_up(call)
    if as_json:
        print_json(to_json(result, indent=2))
    else:
        print_line(str(result))


def remove(paper: PaperArgument, library: LibraryOption = None, config: ConfigOption = None) -> None:
    """Remove a paper and everything that was read from it."""
    with open_library(library=library, config=config) as opened:
        removed = opened.remove(paper)
    print_line(f"removed {removed.id}  {removed.title}")


def watch(
    folder: Annotated[Path, typer.Argument(help="The folder whose papers the library is to have.")],
    *,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep the library in step with a folder, until Ctrl-C: add, replace and remove papers as their files change."""
    from paperscope.watching import FolderWatch

    files = files_folder(read_settings(library=library, config=config).library)
    with open_library(library=library, config=config) as opened:
        watched = FolderWatch(opened, folder, without=files)
        print_note(f"watching {folder}")
        for event in watched.run():
            outcome = event.outcome
            if isinstance(outcome, PaperscopeError):
                report_failure(event.file, outcome, as_json=as_json)
            elif not isinstance(outcome, PaperEntry):
                _report_added(str(event.file), outcome, as_json=as_json)
            elif as_json:
                print_json({"file": str(event.file), "outcome": "removed", "paper": outcome.id, "title": outcome.title})
            else:
                print_line(f"removed   {outcome.id}  {outcome.title}")


def _add_all(
    library: "Library", sources: "Sequence[PaperSource]", *, workers: int, as_json: bool, password: str | None
) -> int:
    """Add papers, several at once; return the number of those that failed.

    A file that can't be read is reported and skipped. An error that every further file would meet is raised; when the
    budget is exhausted, with an estimate of the rest.
    """
    failed = 0
    rest = list(sources)
    spent: BudgetError | None = None
    for source, result in _outcomes(library, sources, workers=workers, password=password):
        if isinstance(result, BudgetError):
            spent = spent or result
            continue
        rest.remove(source)
        if isinstance(result, PaperscopeError):
            failed += 1
            report_failure(source.address, result, as_json=as_json)
        else:
            _report_added(source.address, result, as_json=as_json)
            _note_same_work(library, result.paper)
    if spent is not None:
        raise BudgetError(f"{spent}; {_describe_rest(library, rest, total=len(sources), password=password)}")
    return failed


def _outcomes(
    library: "Library", sources: "Sequence[PaperSource]", *, workers: int, password: str | None
) -> "Iterator[tuple[PaperSource, AddResult | InputError | ModelError | BudgetError]]":
    """Add papers in threads, and yield each result as it comes. Once the budget is spent, no other paper is begun."""
    working: dict[int, str] = {}
    spent: list[BudgetError] = []

    def add_one(number: int, source: "PaperSource") -> "AddResult":
        def on_stage(stage: "Stage") -> None:
            working[number] = f"[{number}/{len(sources)}] {source.name}: {stage} …"
            status.update(Text(" · ".join(working.copy().values())))

        if spent:
            raise spent[0]
        try:
            return library.add_source(source, password=password, on_stage=on_stage)
        except BudgetError as error:
            spent.append(error)
            raise
        finally:
            working.pop(number, None)

    pool = ThreadPoolExecutor(workers)
    try:
        with stderr().status("") as status:
            adding = {pool.submit(add_one, number, source): source for number, source in enumerate(sources, start=1)}
            for future in as_completed(adding):
                try:
                    yield adding[future], future.result()
                except ModelUnavailableError:
                    raise
                except (InputError, ModelError, BudgetError) as error:
                    yield adding[future], error
    finally:
        # Papers in progress end when the library is closed.
        pool.shutdown(wait=False, cancel_futures=True)


def _note_same_work(library: "Library", paper: Paper) -> None:
    """Say which other papers of the library have the DOI or the arXiv id of a paper."""
    published = paper.publication
    for other in entries_of_work(library.entries(), doi=published.doi, arxiv=published.arxiv):
        if other.id != paper.id:
            print_note(f"! {paper.id} is the same work as {other.id} ({other.file})", style="yellow")


def _report_added(file: str, added: "AddResult", *, as_json: bool) -> None:
    paper, images, shortfall = added.paper, added.images, added.shortfall
    if as_json:
        row = {
            "file": file,
            "outcome": added.outcome,
            "paper": paper.id,
            "title": paper.title,
            "pages": len(paper.pages),
            "seconds": round(added.seconds, 3),
            "usage": asdict(added.usage),
            "images": {name: len(getattr(images, name)) for name in ("descriptions", "skipped", "unread")},
            "shortfall": asdict(shortfall),
            "problems": [asdict(problem) for problem in paper.problems],
            "retraction": paper.publication.retraction,
        }
        print_json(row)
        return
    details = [extent(paper), f"{added.seconds:.1f} s"]
    if added.usage != Usage():
        details.append(str(added.usage))
    for missing, what in (
        (images.unread, "images unread"),
        (shortfall.unread, "chunks unread"),
        (shortfall.unjudged, "pairs of names unjudged"),
        (shortfall.unsummarised, "entities not summarized"),
    ):
        if missing:
            details.append(f"{len(missing)} {what}: add the file again to retry")
    print_line(f"{added.outcome:9} {paper.id}  {paper.title}  ({', '.join(details)})")
    if retracted := retraction_line(paper.publication):
        print_line(f"          {retracted}", style="red")
    for line in paper.problem_lines(paper.problems):
        print_line(f"          {line}", style="yellow")


def _estimate_all(library: "Library", sources: "Sequence[PaperSource]", *, as_json: bool, password: str | None) -> int:
    """Print the estimated model usage of adding each file, by role; return the number of failures."""
    estimates, errors = _estimate(library, sources, password=password)
    for source, error in errors.items():
        report_failure(source.address, error, as_json=as_json)
    if as_json:
        for source, estimate in estimates.items():
            roles = {role: asdict(usage) for role, usage in estimate.roles.items()}
            print_json({"file": source.address, "roles": roles, "total": asdict(estimate.total)})
    else:
        stdout().print(_estimates_view(estimates))
    return len(errors)


def _describe_rest(library: "Library", sources: "Sequence[PaperSource]", *, total: int, password: str | None) -> str:
    """Return the progress of an add that still has `sources` of `total` to do, and the estimated usage of finishing
    it."""
    estimates, errors = _estimate(library, sources, password=password)
    usage = sum((estimate.total for estimate in estimates.values()), Usage())
    unknown = f" ({len(errors)} files can't be read)" if errors else ""
    return (
        f"{total - len(sources)} of {total} files are done, and what was paid for is kept; finishing takes about "
        f"{usage.calls} calls, {usage.prompt_tokens} + {usage.completion_tokens} tokens, "
        f"cost {usage.cost:.4f}{unknown}; run the same command again with more"
    )


def _estimate(
    library: "Library", sources: "Sequence[PaperSource]", *, password: str | None
) -> "tuple[dict[PaperSource, Estimate], dict[PaperSource, InputError]]":
    estimator = library.estimator()
    estimates: dict[PaperSource, Estimate] = {}
    errors: dict[PaperSource, InputError] = {}
    with stderr().status("") as status:
        for number, source in enumerate(sources, start=1):
            status.update(Text(f"[{number}/{len(sources)}] {source.name}: estimating …"))
            try:
                estimates[source] = library.estimate_source(source, estimator, password=password)
            except InputError as error:
                errors[source] = error
    return estimates, errors


def _estimates_view(estimates: "Mapping[PaperSource, Estimate]") -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, title="Estimated model usage", title_justify="left")
    grid.add_column("file", overflow="fold")
    grid.add_column("role")
    for name in USAGE_COLUMNS:
        grid.add_column(name, justify="right")
    totals: dict[str, Usage] = {}
    for source, estimate in estimates.items():
        for role, usage in estimate.roles.items():
            grid.add_row(Text(source.name), role, *usage_cells(usage))
            totals[role] = totals.get(role, Usage()) + usage
    grid.add_section()
    for role, usage in totals.items():
        grid.add_row("all files", role, *usage_cells(usage))
    grid.add_row("all files", "all roles", *usage_cells(sum(totals.values(), Usage())), style="bold")
    return grid
