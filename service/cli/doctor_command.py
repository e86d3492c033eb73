"""`paperscope doctor`: checks a library."""

from dataclasses import asdict
from typing import Annotated

import typer

from service.cli.options import ConfigOption, JsonOption, LibraryOption, read_settings
from service.cli.terminal import print_json, print_line

__all__ = ["doctor"]

_STYLES = {"ok": "green", "note": "", "problem": "red", "repaired": "yellow"}


def doctor(
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="Build damaged indexes again; papers and their files are not changed.")
    ] = False,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a library: its database, pictures and files, indexes, embedder and versions. Exits with code 1 if something
    is wrong that was not repaired."""
    from paperscope.doctor import diagnose

    problems = 0
    for finding in diagnose(read_settings(library=library, config=config), repair=repair):
        problems += finding.level == "problem"
        if as_json:
            print_json(asdict(finding))
        else:
            print_line(f"{finding.level:9}{finding.part:10}{finding.text}", style=_STYLES[finding.level])
    raise typer.Exit(1 if problems else 0)
