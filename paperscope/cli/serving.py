"""`paperscope serve`: runs the HTTP service."""

from typing import Annotated

import typer
from rich.text import Text

from paperscope.cli.display import stderr
from paperscope.cli.options import ConfigOption, LibraryOption, read_settings

__all__ = ["serve"]


def serve(
    *,
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on; beyond 127.0.0.1 it takes API keys.")
    ] = None,
    port: Annotated[int | None, typer.Option("--port", help="The port to listen on.")] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Serve the library over HTTP. It ends with Ctrl-C; work under way goes on when it is started again."""
    from service.http import serve as run

    overrides = {"service.host": host, "service.port": port}
    settings = read_settings(library=library, config=config, overrides=overrides)
    for note in settings.notes():
        stderr().print(Text(f"! {note}", style="yellow"))
    run(settings)
