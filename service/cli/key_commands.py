"""`paperscope keys`: create, list and revoke API keys."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table as Grid
from rich.text import Text

from paperscope_core.codec import to_json
from service.cli.options import ConfigOption, JsonOption, LibraryOption, new_app, read_settings
from service.cli.terminal import print_json, print_line, print_note, print_text, stdout

if TYPE_CHECKING:
    from service.keys import Key


__all__ = ["keys_app"]

keys_app = new_app("Create, list and revoke the API keys of the HTTP service.")


@keys_app.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose key it is, to distinguish keys.")],
    *,
    folder: Annotated[
        list[Path] | None,
        typer.Option("--folder", help="Its holder may add papers in this folder by path (repeatable)."),
    ] = None,
    expires: Annotated[
        datetime | None,
        typer.Option(
            "--expires", formats=["%Y-%m-%d"], metavar="DAY", help="From this day on (UTC) it no longer works."
        ),
    ] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a key for one library and print its secret, which can't be shown again."""
    from service.keys import KeyStore

    settings = read_settings(library=library, config=config)
    day = expires.date() if expires else None
    key, secret = KeyStore.open(settings.service.keys).create(name, settings.library, folders=folder or (), expires=day)
    if as_json:
        print_json(_as_json(key, secret=secret.get_secret_value()))
    else:
        print_note(f"key {key.id} for {key.library}; its secret is shown only once:")
        print_text(secret.get_secret_value())


@keys_app.command(name="list")
def list_keys(config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """List the keys and the library of each; secrets can't be listed."""
    from service.keys import KeyStore

    found = KeyStore.open(read_settings(config=config).service.keys).all()
    if as_json:
        for key in found:
            print_json(_as_json(key))
    else:
        stdout().print(_view(found) if found else "No API keys: paperscope keys create NAME")


@keys_app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `paperscope keys list` shows it.")],
    config: ConfigOption = None,
) -> None:
    """Revoke a key; it stops working at once, also in a running service."""
    from service.keys import KeyStore

    key = KeyStore.open(read_settings(config=config).service.keys).revoke(key_id)
    print_line(f"revoked {key.id}  {key.name}")


def _as_json(key: "Key", **more: str) -> dict[str, object]:
    """Return a key for programs. The address of a library is shown without its password."""
    return {**json.loads(to_json(key)), "library": str(key.library), **more}


def _view(keys: "Sequence[Key]") -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD)
    grid.add_column("id", no_wrap=True)
    for name in ("name", "library", "folders", "created", "expires"):
        grid.add_column(name, overflow="fold")
    for key in keys:
        folders = "\n".join(map(str, key.folders))
        expires = str(key.expires or "")
        grid.add_row(key.id, Text(key.name), Text(str(key.library)), Text(folders), str(key.created), expires)
    return grid
