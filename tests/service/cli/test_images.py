"""Readings of a vision model on the command line."""

import json
from pathlib import Path

import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope_core.codec import from_json
from paperscope_core.errors import ModelUnavailableError
from paperscope_core.models import FakeEmbedder, FakeModel, Models
from paperscope_core.settings import Settings
from paperscope_core.types import Paper, PaperImages
from tests.ingest.captioning.illustrated_papers import png, reply
from tests.service.cli.conftest import Run

pymupdf = pytest.importorskip("pymupdf")
MARKUP = "[bold]Bars[/bold] of two losses are drawn beside each other."


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library with a paper of three pictures: one read, one blank, one unread."""
    file, folder = tmp_path / "a.pdf", tmp_path / "library"
    document = pymupdf.open()
    for number, bars in enumerate(((60, 90), (), (30, 20)), start=1):
        page = document.new_page()
        page.insert_image((72, 72, 372, 272), stream=png(bars=bars))
        page.insert_text((72, 310), f"Figure {number}: Losses as bars.")
    document.save(file)
    vision = FakeModel([reply(description=MARKUP), ModelUnavailableError("no connection")])
    models = Models(embedder=FakeEmbedder(), vision=vision)
    with Library(store=Store.open(folder), settings=Settings(), models=models) as opened:
        opened.add(file)
    return folder


@pytest.mark.slow
def test_show_lists_read_skipped_and_unread_images(run: Run, library: Path) -> None:
    shown = run("show", "a.pdf", "--library", library).out
    assert "Images as fake saw them: 1 read, 1 skipped, 1 unread" in shown
    assert f"Figure 1: plot: {MARKUP}" in shown
    assert "Figure 2: not looked at: blank: fewer than one pixel in a thousand stands out" in shown
    assert "Figure 3: unread: no connection" in shown


def test_show_as_json_is_the_paper_with_its_images(run: Run, library: Path) -> None:
    shown = run("show", "a.pdf", "--library", library, "--json").out
    images = from_json(PaperImages, json.dumps(json.loads(shown)["images"]))
    assert [reading.kind for reading in images.readings] == ["description", "skipped", "unread"]
    assert images.unread[0].reason == "no connection"
    assert from_json(Paper, shown).file == "a.pdf"


def test_show_says_nothing_of_images_where_no_model_looked(run: Run, example_library: Path) -> None:
    assert "Images as" not in run("show", "ner-report", "--library", example_library).out


def test_add_says_how_many_images_stayed_unread(
    run: Run, tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPERSCOPE_VISION__MODEL", "reader")
    monkeypatch.setenv("PAPERSCOPE_VISION__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PAPERSCOPE_CALLS__RETRIES", "0")
    (tmp_path / "b.pdf").write_bytes((tmp_path / "a.pdf").read_bytes() + b"% another file")
    added = run("add", tmp_path / "b.pdf", "--library", library)
    assert added.code == 0
    assert "2 images unread: add the file again to retry" in added.out
    row = json.loads(run("add", tmp_path / "b.pdf", "--library", library, "--json").out)
    assert row["images"] == {"descriptions": 0, "skipped": 1, "unread": 2}
    assert row["outcome"] == "unchanged"
