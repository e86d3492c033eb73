"""The official SDK's client, speaking to `paperscope mcp` in a process of its own."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, ImageContent, TextContent

__all__ = ["PAPER", "command", "pictures_of", "stdio_client_of", "text_of"]

PAPER = "b1810c2e3f4a"
_SECONDS = 120


def command(library: Path, *options: str | Path) -> StdioServerParameters:
    arguments = ["-P", "-m", "paperscope", "mcp", "--library", str(library), *map(str, options)]
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "OMP_", "COVERAGE"))}
    return StdioServerParameters(command=sys.executable, args=arguments, env=kept, cwd=library.parent)


@asynccontextmanager
async def stdio_client_of(library: Path, *options: str | Path, mode: str = "auto") -> AsyncIterator[Client]:
    async with Client(command(library, *options), mode=mode, read_timeout_seconds=_SECONDS) as client:
        yield client


async def text_of(client: Client, tool: str, arguments: Mapping[str, Any], *, is_error: bool = False) -> str:
    """The text of a result."""
    result = await client.call_tool(tool, dict(arguments))
    assert isinstance(result, CallToolResult)
    assert result.is_error == is_error, result
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


async def pictures_of(client: Client, tool: str, arguments: Mapping[str, Any]) -> list[ImageContent]:
    result = await client.call_tool(tool, dict(arguments))
    return [one for one in result.content if isinstance(one, ImageContent)]
