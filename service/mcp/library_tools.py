"""The tools of the MCP server that list what many papers say, in parts."""

import asyncio
import math

from mcp_types import ContentBlock
from pydantic import Field

from paperscope_core.errors import NotFoundError
from paperscope_core.text.escaping import shortened
from paperscope_core.types import ContextSource, Evidence
from paperscope_core.types.literature import LiteratureCell
from service.mcp.paper_tools import Access, PaperTool, SearchText, cited_place, text_content

__all__ = ["LIBRARY_TOOLS"]

# Some 4,000 tokens, as the parts of other results have.
_LINES_A_PART, _LONGEST_TEXT = 40, 300


class _Parted(PaperTool):
    part: int = Field(1, ge=1, le=10**6, description="A long list has parts; which one, from 1.")

    async def lines(self, access: Access) -> list[str]:
        """Return all lines. Raises PaperscopeError."""
        raise NotImplementedError

    async def run(self, access: Access) -> list[ContentBlock]:
        """See PaperTool."""
        lines = await self.lines(access)
        parts = max(1, math.ceil(len(lines) / _LINES_A_PART))
        if self.part > parts:
            raise NotFoundError(f"the list has no part {self.part}; ask for 1 to {parts}")
        shown = lines[(self.part - 1) * _LINES_A_PART : self.part * _LINES_A_PART] or ["Nothing was found."]
        if self.part < parts:
            shown.append(f"Part {self.part} of {parts}. Call again with part={self.part + 1} for the next one.")
        return [text_content("\n".join(shown))]


class EachPaper(_Parted):
    """Find the best place of each paper for a question about several or all papers, such as which of them use a method
    and how they differ. Then read more of the papers that matter with search, section or element."""

    name_ = "each_paper"
    text: SearchText = Field(description="The words of a question or a statement, in any language.")

    async def lines(self, access: Access) -> list[str]:
        """See _Parted."""
        context = await access.library.retrieve_async(self.text, each_paper=True)
        best: dict[str, ContextSource] = {}
        for source in context.sources:
            best.setdefault(source.place.paper, source)
        return [f"{one.paper} (id {paper}); {_shown(access, one)}" for paper, one in best.items()]


class Results(_Parted):
    """List the values that papers report in their tables, by dataset and metric, best first, each with its cell: which
    method reaches what, in which paper. All are listed if no words are given."""

    name_ = "results"
    dataset: str = Field("", max_length=300, description="Words in the name of the dataset.")
    metric: str = Field("", max_length=300, description="Words in the name of the metric.")

    async def lines(self, access: Access) -> list[str]:
        """See _Parted."""
        boards = await asyncio.to_thread(access.library.results, dataset=self.dataset, metric=self.metric)
        lines = []
        for board in boards:
            better = f", {board.better} is better" if board.better else ""
            lines.append(f"{board.dataset}, {board.metric}{better}:")
            for one in board.results:
                setting = f" ({one.setting})" if one.setting else ""
                lines.append(f"- {one.method}{setting}: {cited_place(access, one.evidence)}")
        return lines


class FilledTable(_Parted):
    """Read a literature table that the user filled: a row for each paper, and in each cell what it says and where. The
    tables are listed if the title is omitted."""

    name_ = "table"
    title: str = Field("", max_length=200, description="Its title or id.")

    async def lines(self, access: Access) -> list[str]:
        """See _Parted."""
        tables = await asyncio.to_thread(access.library.tables.all)
        wanted = self.title.strip()
        if not wanted:
            return [f"{one.title}: {', '.join(column.name for column in one.columns.columns)}" for one in tables]
        named = next((one.id for one in tables if wanted in (one.id, one.title)), "")
        if not named:
            raise NotFoundError(f"no table {wanted!r}; there are {'; '.join(one.title for one in tables) or 'none'}")
        found = await asyncio.to_thread(access.library.tables.get, named)
        rows = ((" / ".join(filter(None, (row.title, row.name))), row.cells) for row in found.included)
        return [f"{name} | {cell.column}: {_filled(access, cell)}" for name, cells in rows for cell in cells]


def _filled(access: Access, cell: LiteratureCell) -> str:
    status = "corrected by hand" if cell.correction is not None else cell.status
    doubt = ", look at the place" if cell.doubtful else ""
    return _said(access, f"{cell.shown} ({status}{doubt})", *cell.evidence[:1])


def _said(access: Access, text: str, *places: Evidence) -> str:
    said = shortened(" ".join(text.split()), limit=_LONGEST_TEXT)
    return "; ".join((said, *(cited_place(access, one) for one in places)))


def _shown(access: Access, one: ContextSource) -> str:
    return _said(access, one.content, Evidence(element=one.element, place=one.place, quote=one.label or one.section))


LIBRARY_TOOLS: tuple[type[PaperTool], ...] = (EachPaper, Results, FilledTable)
"""The tools about many papers, which only read."""
