"""`paperscope check` and `results`: the numbers of a paper that do not fit together, and the results of all papers."""

import json
from typing import Annotated

import typer

from paperscope_core.codec import to_json
from service.cli.options import ConfigOption, JsonOption, LibraryOption, open_library
from service.cli.paper_commands import PaperArgument
from service.cli.terminal import print_json, print_line, print_note, print_text

__all__ = ["check", "results"]


def check(
    paper: PaperArgument, library: LibraryOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """Check a paper's numbers against each other, without a model. Exits with code 1 if some do not fit together."""
    with open_library(library=library, config=config) as opened:
        found = opened.check(paper)
    if as_json:
        print_json({"discrepancies": [json.loads(to_json(one)) for one in found]}, indent=2)
    for one in () if as_json else found:
        print_line(f"{one.kind.replace('_', ' ')}: {one}")
        for evidence in one.evidence:
            print_line(f"    {evidence}: {evidence.quote}")
    if not found and not as_json:
        print_note("no numbers were found that do not fit together; numbers in doubt were not compared")
    raise typer.Exit(1 if found else 0)


def results(
    *,
    dataset: Annotated[str, typer.Option("--dataset", help="Only datasets with these words in their names.")] = "",
    metric: Annotated[str, typer.Option("--metric", help="Only metrics with these words in their names.")] = "",
    task: Annotated[str, typer.Option("--task", help="Only tasks with these words in their names.")] = "",
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV: a row for each value, with its page and box.")
    ] = False,
    separate: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--separate", metavar="PAPER NAME", help="First keep NAME of this paper apart from that of others."
        ),
    ] = None,
    join: Annotated[
        tuple[str, str] | None, typer.Option("--join", metavar="PAPER NAME", help="First take --separate back.")
    ] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the results in the tables of all papers by dataset and metric, the best first, without a model."""
    from query.results import results_csv

    with open_library(library=library, config=config) as opened:
        for pair, apart in ((separate, True), (join, False)):
            if pair:
                opened.separate(*pair, apart=apart)
        boards = opened.results(dataset=dataset, metric=metric, task=task)
    if as_json:
        print_json({"leaderboards": [json.loads(to_json(board)) for board in boards]}, indent=2)
    elif as_csv:
        print_text(results_csv(boards).rstrip("\r\n"))
    for board in () if as_json or as_csv else boards:
        print_line(f"{board.dataset}, {board.metric}{', lower is better' if board.better == 'lower' else ''}")
        for one in board.results:
            setting = f" ({one.setting})" if one.setting else ""
            print_line(f"  {one.evidence.quote:>16}  {one.method}{setting}  [{one.evidence}]")
        for group in board.disagreements:
            values = "; ".join(f"{one.evidence.quote} [{one.evidence}]" for one in group)
            print_line(f"  ! {group[0].method} has different values: {values}")
    if not boards and not as_json:
        print_note("no table has a value whose headers name such a dataset, metric and method")
