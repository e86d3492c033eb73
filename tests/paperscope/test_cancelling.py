"""An add that is cancelled, at whatever stage, leaves the library as it was, and the next one goes through."""

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from graph_store import Store
from ingest.sandbox.isolated_parser import IsolatedParser
from paperscope import adding
from paperscope.library import Library, Stage
from paperscope_core.errors import StoreError
from paperscope_core.models import CachedModel, Models
from paperscope_core.protocols import Parser
from paperscope_core.settings import Settings
from tests.ingest.captioning.illustrated_papers import reply
from tests.paperscope.blocking import BlockingEmbedder, BlockingModel, BlockingParser
from tests.paperscope.test_images import write_paper


@dataclass(frozen=True, kw_only=True)
class Holding:
    """A library whose stages can each be held."""

    library: Library
    file: Path
    parser_held: Path
    vision: BlockingModel
    extract: BlockingModel
    embedder: BlockingEmbedder

    def hold(self, stage: str, *, held: bool) -> None:
        if held and stage == "parsing":
            self.parser_held.touch()
        else:
            self.parser_held.unlink(missing_ok=True)
        self.vision.held = held and stage == "reading images"
        self.extract.held = held and stage == "extracting entities"
        self.embedder.held = False


@pytest.fixture
def holding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holding]:
    parser = IsolatedParser(BlockingParser(tmp_path / "held"), seconds=600, memory_mb=None)

    def parser_for(*_settings: object, **_limits: object) -> Parser:
        return parser

    monkeypatch.setattr(adding, "parser_for", parser_for)
    vision, extract = BlockingModel(reply()), BlockingModel('{"entities": [], "relations": []}')
    embedder = BlockingEmbedder()
    store = Store.open(tmp_path / "library")
    models = Models(embedder=embedder, extract=CachedModel(extract, store), vision=CachedModel(vision, store))
    with Library(store=store, settings=Settings(), models=models) as library:
        yield Holding(
            library=library,
            file=write_paper(tmp_path / "a.pdf"),
            parser_held=tmp_path / "held",
            vision=vision,
            extract=extract,
            embedder=embedder,
        )


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["parsing", "reading images", "extracting entities", "embedding", "storing"])
async def test_a_cancelled_add_ends_soon_and_stores_nothing(holding: Holding, stage: str) -> None:
    here, reached, heard = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def on_stage(at: Stage) -> None:
        # Of a parse that is held, the first page is read.
        if at.name == stage and (stage != "parsing" or at.done):
            # Held from here only: names are embedded before.
            holding.embedder.held = stage == "embedding"
            here.call_soon_threadsafe(reached.set)
            if stage == "storing":
                heard.wait(5)

    holding.hold(stage, held=True)
    revision = holding.library._store.revision
    add = asyncio.create_task(holding.library.add_async(holding.file, on_stage=on_stage))
    await asyncio.wait_for(reached.wait(), timeout=60)
    started = time.monotonic()
    add.cancel()
    here.call_later(0.1, heard.set)
    with pytest.raises(asyncio.CancelledError):
        await add
    assert time.monotonic() - started < 5
    assert (holding.library.entries(), holding.library._store.revision) == ((), revision)
    holding.hold(stage, held=False)
    assert (await holding.library.add_async(holding.file)).outcome == "added"


@pytest.mark.slow
async def test_a_library_that_is_closed_while_it_adds_ends_the_add_with_an_error(holding: Holding) -> None:
    here, reached = asyncio.get_running_loop(), asyncio.Event()

    def on_stage(at: Stage) -> None:
        if at.done:
            here.call_soon_threadsafe(reached.set)

    holding.hold("parsing", held=True)
    add = asyncio.create_task(holding.library.add_async(holding.file, on_stage=on_stage))
    await asyncio.wait_for(reached.wait(), timeout=60)
    await asyncio.wait_for(asyncio.to_thread(holding.library.close), timeout=10)
    with pytest.raises(StoreError, match="the library was closed before this was done"):
        await add
