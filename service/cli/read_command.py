"""`paperscope read`: the reading tools."""

from typing import Annotated, cast

import typer

from paperscope_core.codec import to_json
from paperscope_core.types import ToolCall, ToolName
from service.cli.options import ConfigOption, JsonOption, LibraryOption, open_library
from service.cli.terminal import print_json, print_line

__all__ = ["read"]


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
