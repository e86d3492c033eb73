"""A small library that is written into the store directly, and settings of services over it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from httpx2._config import DEFAULT_TIMEOUT_CONFIG

from graph_store import Store
from paperscope.library import Library
from paperscope_core.models import FakeEmbedder, FakeModel, Models
from paperscope_core.settings import Settings, load_settings
from paperscope_core.types import (
    Box,
    Cell,
    Chunk,
    Extraction,
    IndexedPaper,
    Page,
    Paper,
    Passage,
    Place,
    Table,
    content_hash,
)

# The headless shell takes a third of the time of the whole browser.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, _BROWSERS)), None)
PAPER = "aaaa00000001"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8ffff3f0005fe02fe"
    "dccc59e70000000049454e44ae426082"
)


def place(top: float) -> Place:
    return Place(paper=PAPER, page=1, box=Box(50.0, top, 300.0, top + 20))


def small_paper() -> IndexedPaper:
    """A passage, and a table with an image."""
    passage = Passage(id=f"{PAPER}/passage-1", place=place(10), order=1, text="The tagger reaches an F1 of 0.83.")
    cells = tuple(
        Cell(row=row, column=column, text=text, place=place(100 + 10 * row))
        for row, texts in enumerate((("Model", "F1"), ("tagger", "0.83")))
        for column, text in enumerate(texts)
    )
    table = Table(
        id=f"{PAPER}/table-1",
        place=place(100),
        order=2,
        cells=cells,
        label="Table 1",
        caption="Scores of the tagger.",
        header_rows=1,
        crop=content_hash(PNG),
    )
    paper = Paper(
        id=PAPER,
        title="A Tagger",
        authors=("A. Author",),
        sha256="0" * 64,
        file="tagger.pdf",
        pages=(Page(number=1, width=600.0, height=800.0),),
        sections=(),
        elements=(passage, table),
    )
    chunks = (
        Chunk(
            id=f"{PAPER}/chunk-1",
            paper=PAPER,
            text=passage.text,
            elements=(passage.id,),
            section="",
            place=passage.place,
        ),
        Chunk(
            id=f"{PAPER}/chunk-2",
            paper=PAPER,
            text="Table 1: Scores of the tagger.\ntagger | F1: 0.83",
            elements=(table.id,),
            section="",
            place=table.place,
        ),
    )
    vectors = np.eye(2, 64, dtype=np.float32)
    return IndexedPaper(paper=paper, chunks=chunks, extraction=Extraction(entities=(), relations=()), vectors=vectors)


def settings_of(library: Path, **overrides: object) -> Settings:
    """The settings of a service over this library, with the key file beside it."""
    given = {"library": str(library), "service.keys": str(library.parent / "keys.json"), **overrides}
    return load_settings(environ={}, overrides=given)


def settings_in(folder: Path, **overrides: object) -> Settings:
    """The settings of a service whose library and key file are both in this folder."""
    return settings_of(folder / "library", **overrides)


@pytest.fixture(scope="session", autouse=True)
def patient_clients() -> Iterator[None]:
    """Requests time out after a minute, not five seconds: a busy machine responds late."""
    with pytest.MonkeyPatch.context() as patch:
        for step in ("connect", "read", "write", "pool"):
            patch.setattr(DEFAULT_TIMEOUT_CONFIG, step, 60.0)
        yield


@pytest.fixture
def make_library(tmp_path: Path) -> Iterator[Callable[[FakeModel | None], Library]]:
    """Opens the small library with a model in every role, or with none."""
    opened: list[Library] = []

    def make(model: FakeModel | None = None) -> Library:
        store = Store.open(tmp_path / "library")
        if not store.papers():
            store.add(small_paper(), crops={content_hash(PNG): PNG}, source="/tagger.pdf", embedder="fake-64")
        models = Models(embedder=FakeEmbedder(), answer=model, vision=model)
        opened.append(Library(store=store, settings=Settings(), models=models))
        return opened[-1]

    yield make
    for library in opened:
        library.close()
