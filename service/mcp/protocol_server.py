"""The MCP server: tools, the prompt `cite`, and the papers as resources, for any transport."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from ingest.export import to_markdown
from paperscope import __version__
from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import PaperscopeError
from paperscope_core.types import PaperEntry
from prompts import load
from service.mcp.library_tools import LIBRARY_TOOLS
from service.mcp.paper_tools import TOOLS, Access, AddPaper, text_content

__all__ = ["build_server"]

T = TypeVar("T")

_Context = ServerRequestContext[Any, Any]
_Paged = types.PaginatedRequestParams | None
_SCHEME = "paperscope://papers/"
_RESOURCES_A_PAGE = 100
_CITE = load("cite", placeholders=frozenset({"question"}))


def build_server(access_of: Callable[[Any], AbstractAsyncContextManager[Access]], *, adds: bool = False) -> Server[Any]:
    """Return the server.

    Args:
        access_of: Returns what a request may use; the request is None if it came over stdio. Raises PaperscopeError.
        adds: Whether there is a tool that adds papers.
    """
    handlers = _Handlers(access_of, adds=adds)
    return Server(
        "paperscope",
        version=__version__,
        title="Paperscope",
        instructions=_CITE.system,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
    )


class _Handlers:
    def __init__(self, access_of: Callable[[Any], AbstractAsyncContextManager[Access]], *, adds: bool) -> None:
        self._access_of = access_of
        self._tools = {tool.name_: tool for tool in (*TOOLS, *LIBRARY_TOOLS, *((AddPaper,) if adds else ()))}

    async def list_tools(self, _context: _Context, _asked: _Paged) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.listed() for tool in self._tools.values()])

    async def call_tool(self, context: _Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(asked.name)
        if tool is None:
            raise _refused(f"there is no tool {asked.name!r}; there are {', '.join(self._tools)}")
        try:
            call = tool.of(asked.arguments or {})
            async with self._access_of(context.request) as access:
                return types.CallToolResult(content=await call.run(access))
        except PaperscopeError as error:
            # A model reads it; errors of the protocol end with the client.
            return types.CallToolResult(content=[text_content(error.public)], is_error=True)

    async def list_prompts(self, _context: _Context, _asked: _Paged) -> types.ListPromptsResult:
        question = types.PromptArgument(name="question", description="What to answer from the papers.", required=True)
        about = "How to answer a question from the papers with citations whose links open the cited boxes."
        return types.ListPromptsResult(prompts=[types.Prompt(name="cite", description=about, arguments=[question])])

    async def get_prompt(self, _context: _Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        if asked.name != "cite":
            raise _refused(f"there is no prompt {asked.name!r}; there is 'cite'")
        text = "\n\n".join(_CITE.fill(question=(asked.arguments or {}).get("question", "")))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text_content(text))])

    async def list_resources(self, context: _Context, asked: _Paged) -> types.ListResourcesResult:
        cursor = (asked.cursor if asked else None) or "0"
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
            raise _refused(f"{cursor!r} is no cursor of this list")
        start, end = int(cursor), int(cursor) + _RESOURCES_A_PAGE
        entries = await self._read(context, lambda access: access.library.entries())
        more = str(end) if end < len(entries) else None
        return types.ListResourcesResult(resources=list(map(_resource, entries[start:end])), next_cursor=more)

    async def read_resource(
        self, context: _Context, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        id_ = asked.uri.removeprefix(_SCHEME)
        text = await self._read(context, lambda access: to_markdown(access.library.paper(access.library.entry(id_).id)))
        shown = types.TextResourceContents(uri=asked.uri, mime_type="text/markdown", text=text_content(text).text)
        return types.ReadResourceResult(contents=[shown])

    async def _read(self, context: _Context, read: Callable[[Access], T]) -> T:
        try:
            async with self._access_of(context.request) as access:
                return await run_in_thread(lambda: read(access))
        except PaperscopeError as error:
            raise _refused(error.public) from error


def _refused(message: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, text_content(message).text)


def _resource(entry: PaperEntry) -> types.Resource:
    described = "; ".join(filter(None, (", ".join(entry.authors), entry.venue, str(entry.year or ""))))
    return types.Resource(
        uri=f"{_SCHEME}{entry.id}",
        name=text_content(entry.file).text,
        title=text_content(entry.title).text,
        description=text_content(described).text,
        mime_type="text/markdown",
    )
