"""A cancelled add, at any stage, leaves the library unchanged, and the next add succeeds."""

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from graph_store import Store
from ingest import parsers
from ingest.sandbox.isolated_parser import IsolatedParser
from paperscope.library import Library, Stage
from paperscope_core.errors import StoreError
from paperscope_core.models import CachedModel, Models
from paperscope_core.protocols import Parser
from paperscope_core.settings import Settings
from tests.ingest.captioning.illustrated_papers import reply
from tests.paperscope.blocking import BlockingEmbedder, BlockingModel, BlockingParser
from tests.paperscope.test_images import write_paper


@dataclass(frozen=True, kw_only=True)
class BlockableLibrary:
    """A library of which each stage of an add can be blocked."""

    library: Library
    file: Path
    parser_blocked: Path
    vision: BlockingModel
    extract: BlockingModel
    embedder: BlockingEmbedder

    def block(self, stage: str, *, blocked: bool) -> None:
        if blocked and stage == "parsing":
            self.parser_blocked.touch()
        else:
            self.parser_blocked.unlink(missing_ok=True)
        self.vision.blocked = blocked and stage == "reading images"
        self.extract.blocked = blocked and stage == "extracting entities"
        self.embedder.blocked = False


@pytest.fixture
def blockable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BlockableLibrary]:
    parser = IsolatedParser(BlockingParser(tmp_path / "blocked"), seconds=600, memory_mb=None)

    def parser_for(*_settings: object, **_limits: object) -> Parser:
        return parser

    monkeypatch.setattr(parsers, "parser_for", parser_for)
    vision, extract = BlockingModel(reply()), BlockingModel('{"entities": [], "relations": []}')
    embedder = BlockingEmbedder()
    store = Store.open(tmp_path / "library")
    models = Models(embedder=embedder, extract=CachedModel(extract, store), vision=CachedModel(vision, store))
    with Library(store=store, settings=Settings(), models=models) as library:
        yield BlockableLibrary(
            library=library,
            file=write_paper(tmp_path / "a.pdf"),
            parser_blocked=tmp_path / "blocked",
            vision=vision,
            extract=extract,
            embedder=embedder,
        )


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["parsing", "reading images", "extracting entities", "embedding", "storing"])
async def test_a_cancelled_add_ends_soon_and_stores_nothing(blockable: BlockableLibrary, stage: str) -> None:
    here, reached, heard = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def on_stage(at: Stage) -> None:
        # A blocked parser has read the first page.
        if at.name == stage and (stage != "parsing" or at.done):
            # Not earlier, because names are embedded before.
            blockable.embedder.blocked = stage == "embedding"
            here.call_soon_threadsafe(reached.set)
            if stage == "storing":
                heard.wait(5)

    blockable.block(stage, blocked=True)
    revision = blockable.library._store.revision
    add = asyncio.create_task(blockable.library.add_async(blockable.file, on_stage=on_stage))
    await asyncio.wait_for(reached.wait(), timeout=60)
    started = time.monotonic()
    add.cancel()
    here.call_later(0.1, heard.set)
    with pytest.raises(asyncio.CancelledError):
        await add
    assert time.monotonic() - started < 5
    assert (blockable.library.entries(), blockable.library._store.revision) == ((), revision)
    blockable.block(stage, blocked=False)
    assert (await blockable.library.add_async(blockable.file)).outcome == "added"


@pytest.mark.slow
async def test_closing_the_library_ends_an_add_with_an_error(blockable: BlockableLibrary) -> None:
    here, reached = asyncio.get_running_loop(), asyncio.Event()

    def on_stage(at: Stage) -> None:
        if at.done:
            here.call_soon_threadsafe(reached.set)

    blockable.block("parsing", blocked=True)
    add = asyncio.create_task(blockable.library.add_async(blockable.file, on_stage=on_stage))
    await asyncio.wait_for(reached.wait(), timeout=60)
    await asyncio.wait_for(asyncio.to_thread(blockable.library.close), timeout=10)
    with pytest.raises(StoreError, match="the library was closed before this was done"):
        await add
