"""`paperscope lightrag`: LightRAG's server on the library, and the import of its working directories."""

import os
from pathlib import Path
from typing import Annotated

import typer

from paperscope_core.errors import InputError
from service.cli.options import ConfigOption, LibraryOption, new_app, open_library
from service.cli.terminal import print_note, print_text

__all__ = ["lightrag_app"]

_KEY = "LIGHTRAG_API_KEY"

lightrag_app = new_app("Use LightRAG on the library (extra: lightrag), and import its working directories.")


@lightrag_app.command()
def serve(
    *,
    host: Annotated[
        str, typer.Option("--host", help=f"The address to listen on; beyond this machine it needs {_KEY}.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen on.")] = 9621,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Serve the library with LightRAG's API server and WebUI until Ctrl-C. It can't change the library."""
    import tempfile

    import uvicorn

    from service.http.auth import is_loopback
    from service.http.middleware import limit_other_app
    from service.http.server import EXTRA_CONNECTIONS, Protocol

    if not is_loopback(host) and not os.environ.get(_KEY):
        raise InputError(f"--host {host}: others could read the library; set {_KEY} to a secret key first")
    with tempfile.TemporaryDirectory() as inputs, open_library(library=library, config=config) as opened:
        app = opened.lightrag_app(host=host, port=port, inputs=Path(inputs))
        app = limit_other_app(app, keyed=bool(os.environ.get(_KEY)))
        print_note(f"LightRAG's WebUI: http://{host}:{port}/webui/")
        uvicorn.run(app, host=host, port=port, log_level="warning", http=Protocol, limit_concurrency=EXTRA_CONNECTIONS)


@lightrag_app.command(name="import")
def import_folder(
    folder: Annotated[Path, typer.Argument(help="A working directory of LightRAG; its files are only read.")],
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Add the documents of a LightRAG working directory as papers without pages, with their entities and relations."""
    with open_library(library=library, config=config) as opened:
        plan = opened.import_lightrag(folder, on_paper=lambda paper: print_text(f"added     {paper.id}  {paper.title}"))
    print_note(f"{len(plan.papers)} papers, {plan.entities} entities, {plan.relations} relations")
    for what, count in plan.left_out.items():
        print_note(f"! left out: {count} {what}", style="yellow")
