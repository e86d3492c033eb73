"""`paperscope table`."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from paperscope_core.column_sets import read_columns
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.types import PaperEntry
from paperscope_core.types.literature import LiteratureTable
from service.cli.options import (
    ConfigOption,
    LibraryOption,
    MaxCallsOption,
    MaxCostOption,
    make_budget,
    open_library,
)
from service.cli.question_commands import NO_MODEL, EstimateOption, bounds_view, counting
from service.cli.terminal import print_line, print_note, stderr, stdout

if TYPE_CHECKING:
    from paperscope.library import Library

__all__ = ["table"]


def table(
    columns: Annotated[Path, typer.Argument(help="The columns: a TOML file; see the guide to literature tables.")],
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for table.csv, .xlsx, .md, .tex, .json and .bib.")
    ],
    papers: Annotated[
        list[str] | None,
        typer.Option(
            "--papers", "--paper", "-p", help="A paper, by id, file name, title or '#TAG' (repeatable); default: all."
        ),
    ] = None,
    estimate: EstimateOption = False,
    max_calls: MaxCallsOption = None,
    max_cost: MaxCostOption = None,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="How many papers are asked at a time.")] = 4,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Fill a literature table: a row for each paper, and in each cell what it says and where. Run again, it resumes
    where it stopped, and asks only for papers and columns that are new."""
    read = read_columns(columns)
    budget = partial(make_budget, roles=("answer", "vision"), max_calls=max_calls, max_cost=max_cost)
    with open_library(library=library, config=config, budget=budget) as opened:
        if estimate:
            with stderr().status("estimating …"):
                found = opened.wait(opened.question_estimator().estimate_table(read, papers or ()))
            title = f"Estimated model usage of what {read.title!r} lacks"
            stdout().print(bounds_view(title, found.least, found.most, when="if nothing is looked up"))
            return
        table = opened.define_table(read, papers or ())
        try:
            filled = _fill_with_progress(opened, table, at_once=at_once)
        finally:
            # Also of a run that is stopped: what is filled is kept.
            _write(opened, opened.tables.get(table), out)
    for line in _summary(filled):
        print_line(line)
    if not any(cell.model for row in filled.rows for cell in row.cells):
        print_note(NO_MODEL, style="dim")
    print_line(f"Results: {out}/table.xlsx, .csv, .md, .tex, .json, .bib")
    raise typer.Exit(1 if filled.failures else 0)


def _fill_with_progress(library: "Library", table: str, *, at_once: int) -> LiteratureTable:
    with counting("filling") as progress:
        task = progress.add_task("", total=len(library.tables.get(table).papers))

        def on_paper(entry: PaperEntry, reason: str) -> None:
            progress.advance(task)
            if reason:
                progress.console.print(Text(f"error: {entry.title or entry.file}: {reason}", style="red"))

        return library.wait(library.fill_table_async(table, at_once=at_once, on_paper=on_paper))


def _write(library: "Library", table: LiteratureTable, out: Path) -> None:
    """Write all exports. Raises OutputError."""
    from paperscope.table_exports import EXPORTS, export_table

    with output_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    entries = library.entries()
    published = library.publications([one.id for one in entries])
    for form in EXPORTS:
        write_atomically(out / f"table.{form}", export_table(table, entries, form, publications=published))


def _summary(table: LiteratureTable) -> list[str]:
    cells = [cell for row in table.included for cell in row.cells]
    states = Counter("corrected" if cell.correction is not None else cell.status for cell in cells)
    order = ("stated", "computed", "corrected", "not stated", "unclear")
    counted = ", ".join(f"{states[state]} {state}" for state in order if states[state])
    flagged = sum(cell.doubtful for cell in cells)
    return [
        f"{table.title}: {len(table.papers)} papers, {len(table.included)} rows, {len(cells)} cells: {counted}",
        f"{flagged} cells to look at; {table.usage}",
    ]
