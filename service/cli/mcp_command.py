"""`paperscope mcp`."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from paperscope_core.errors import InputError
from paperscope_core.locations import location_text
from service.cli.options import ConfigOption, LibraryOption, print_notes, read_settings
from service.cli.terminal import print_note, print_text

if TYPE_CHECKING:
    from service.mcp.client_settings import Client

__all__ = ["mcp"]


def mcp(
    *,
    allow_add: Annotated[
        list[Path] | None,
        typer.Option("--allow-add", metavar="FOLDER", help="Let the client add papers from this folder (repeatable)."),
    ] = None,
    link_base: Annotated[
        str,
        typer.Option("--link-base", metavar="URL", help="Where `paperscope serve` shows this library, for links."),
    ] = "",
    install: Annotated[
        str,
        typer.Option(
            "--install", metavar="CLIENT", help="claude-desktop, claude-code, cursor or vscode: let it start this."
        ),
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="With --install: don't ask before writing the file.")
    ] = False,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Let the model of an MCP client (Claude, Cursor, VS Code, …) read the library. The client starts this command."""
    if find_spec("mcp") is None:
        raise InputError('MCP needs the extra mcp: pip install "paperscope[mcp]"')
    settings = read_settings(library=library, config=config)
    folders = [folder.resolve() for folder in allow_add or ()]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"--allow-add {folder}: no such folder")
    links = link_base.rstrip("/")
    if links and not links.startswith(("http://", "https://")):
        raise InputError(f"--link-base {link_base!r} is no address; give one such as http://127.0.0.1:8000")
    if install:
        arguments = ["mcp", "--library", _absolute(location_text(settings.library))]
        arguments += ["--config", str(config.resolve())] if config else []
        arguments += [part for folder in folders for part in ("--allow-add", str(folder))]
        arguments += ["--link-base", links] if links else []
        _install(install, arguments, yes=yes)
        return
    print_notes(settings)
    if sys.stdin.isatty():
        print_note(
            "An MCP client starts this command and speaks to it here; `paperscope mcp --install CLIENT` sets it up."
        )
    from service.mcp.stdio import serve_stdio

    serve_stdio(settings, links=links, folders=folders)


def _absolute(library: str) -> str:
    return library if "://" in library else str(Path(library).resolve())


def _install(client: str, arguments: list[str], *, yes: bool) -> None:
    from service.mcp.client_settings import Client, planned_change

    if client not in get_args(Client):
        raise InputError(f"--install {client!r} is no known client; take one of {', '.join(get_args(Client))}")
    change = planned_change(cast("Client", client), arguments)
    if change is None:
        print_note("The settings are as they should be; nothing is changed.")
        return
    print_text(change.shown)
    if not yes and not typer.confirm(f"Write {change.file}?", err=True):
        print_note("Nothing is changed.")
        return
    backup = change.write()
    print_note(f"Wrote {change.file}{f'; the file as it was is {backup}' if backup else ''}. Restart {client}.")
