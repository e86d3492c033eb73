"""What the tools of the MCP server about many papers tell a model."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from mcp_types import TextContent

from graph_store import Store
from paperscope.library import Library
from paperscope_core.column_sets import column_set
from paperscope_core.errors import NotFoundError
from paperscope_core.models import FakeEmbedder, Models
from paperscope_core.models.fakes import FakeModel
from paperscope_core.settings import Settings
from query.results import Leaderboard
from service.mcp.library_tools import LIBRARY_TOOLS
from service.mcp.paper_tools import Access
from tests.paperscope.test_table_exports import PAPERS, put_paper
from tests.paperscope.test_table_filling import F1, reply
from tests.query.test_results import FIRST, SECOND, boards_of

COLUMNS = column_set("Taggers", [F1])
TOOLS = {tool.name_: tool for tool in LIBRARY_TOOLS}


@pytest.fixture
def access(tmp_path: Path) -> Iterator[Access]:
    @asynccontextmanager
    async def drawing() -> AsyncIterator[None]:
        yield

    with closing(Store.open(tmp_path / "library")) as store:
        for number in range(3):
            put_paper(store, number)
    models = Models(embedder=FakeEmbedder(), answer=FakeModel(reply))
    with Library(store=Store.open(tmp_path / "library"), settings=Settings(), models=models) as library:
        yield Access(library=library, links="http://x", drawing=drawing)


async def text_of(access: Access, tool: str, **arguments: Any) -> str:
    (block,) = await TOOLS[tool].of(arguments).run(access)
    assert isinstance(block, TextContent)
    return block.text


async def test_each_paper_has_one_line_with_its_link(access: Access) -> None:
    lines = (await text_of(access, "each_paper", text="F1 of tagging")).splitlines()
    assert [line.partition(" (id")[0] for line in lines] == ["Paper 0", "Paper 1", "Paper 2"]
    assert f"http://x/#/papers/{PAPERS[0]}?at=2," in lines[0]
    assert "Paper 0 reaches an F1 of 0.80" in lines[0]
    assert await text_of(access, "results") == "Nothing was found."


async def test_a_filled_table_is_listed_and_read(access: Access) -> None:
    table = access.library.wait(access.library.fill_table_async(access.library.define_table(COLUMNS)))
    access.library.tables.correct(table.id, PAPERS[1], "F1", "0.9")
    assert await text_of(access, "table") == "Taggers: F1"
    lines = (await text_of(access, "table", title="Taggers")).splitlines()
    assert lines[0].startswith("Paper 0 | F1: 0.80 (stated); Paper 0, page 2; ")
    assert "Paper 1 | F1: 0.9 (corrected by hand)" in lines[1]
    with pytest.raises(NotFoundError, match="no table 'Other'; there are Taggers"):
        await text_of(access, "table", title="Other")


async def test_results_are_listed_in_parts(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    boards: list[Leaderboard] = boards_of(FIRST, SECOND) * 20
    monkeypatch.setattr(Library, "results", lambda *_, **__: boards)
    text = await text_of(access, "results", dataset="OntoNotes")
    assert text.splitlines()[0] == "OntoNotes5.0, F1:"
    assert "Call again with part=2" in text
    assert len(text) < 20_000
    with pytest.raises(NotFoundError, match="ask for 1 to"):
        await text_of(access, "results", part=999)
