"""MCP over standard input and output: a client starts this process, and ends it by closing its input."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcp.server.stdio import stdio_server

from paperscope_core.settings import Settings
from service.mcp.paper_tools import Access
from service.mcp.protocol_server import build_server

if TYPE_CHECKING:
    from paperscope.library import Library

__all__ = ["serve_stdio"]

_BYTES_PER_MB = 1_000_000


def serve_stdio(settings: Settings, *, links: str = "", folders: Sequence[Path] = ()) -> None:
    """Serve one client until it closes standard input, then exit the process.

    Args:
        links: The address of the web page that shows the library, for links; "" if there is none.
        folders: The folders from which the client may add papers.
    """
    # Python's handler could not end the thread that waits for input.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        asyncio.run(_serve(settings, links=links, folders=folders))
    except* BrokenPipeError:
        # The client died.
        pass
    # The client may wait; freeing a library's memory takes seconds.
    os._exit(0)


async def _serve(settings: Settings, *, links: str, folders: Sequence[Path]) -> None:
    # The client is answered while the library opens.
    opening = asyncio.ensure_future(asyncio.to_thread(_open, settings))
    drawing, max_bytes = asyncio.Semaphore(1), settings.limits.max_file_mb * _BYTES_PER_MB

    @asynccontextmanager
    async def access_of(_request: object) -> AsyncIterator[Access]:
        library = await asyncio.shield(opening)
        yield Access(library=library, links=links, folders=folders, max_file_bytes=max_bytes, drawing=lambda: drawing)

    server = build_server(access_of, adds=bool(folders))
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
    if opening.done() and not opening.exception():
        await asyncio.to_thread(opening.result().close)


def _open(settings: Settings) -> "Library":
    from paperscope.library import Library

    return Library.open(settings=settings)
