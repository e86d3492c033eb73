"""`paperscope check`: the numbers of a paper that do not fit together."""

import json

import typer

from paperscope_core.codec import to_json
from service.cli.options import ConfigOption, JsonOption, LibraryOption, open_library
from service.cli.paper_commands import PaperArgument
from service.cli.terminal import print_json, print_line, print_note

__all__ = ["check"]


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
