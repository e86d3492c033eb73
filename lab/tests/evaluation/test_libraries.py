"""Libraries of the gold's papers are built once and used again; an unreadable file leaves the rest."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from paperscope_lab.evaluation.libraries import Libraries

from paperscope_core.models import FakeEmbedder
from paperscope_core.settings import ParserSettings, Settings
from paperscope_core.types import Box, Paper, Passage, Place

if TYPE_CHECKING:
    from tests.evaluation.conftest import MakePaper


@pytest.fixture(autouse=True)
def fake_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Saves loading the weights."""
    monkeypatch.setattr("paperscope_lab.evaluation.libraries.build_embedder", lambda _: FakeEmbedder())


@pytest.fixture
def paper(make_paper: "MakePaper") -> Paper:
    return make_paper("Dice loss weighs hard examples more.", "Cross entropy treats all examples alike.")


def test_a_library_of_files_is_made_once(root: Path, tmp_path: Path) -> None:
    file, broken = tmp_path / "notes.md", tmp_path / "broken.pdf"
    file.write_text("# Notes\n\nDice loss weighs hard examples more.\n")
    broken.write_bytes(b"%PDF-1.5 nothing")
    with Libraries(tmp_path / "work", Settings()) as libraries:
        built = libraries.of_files([file, broken])
        answer = libraries.library(built).ask("What does dice loss weigh?")
        assert answer.claims[0].evidence[0].place.paper == built.ids[str(file)]
        assert list(built.problems) == [str(broken)]
        assert "damaged" in built.problems[str(broken)]
        assert libraries.of_files([file, broken]) is built
    with Libraries(tmp_path / "work", Settings()) as libraries:
        assert libraries.of_files([file, broken]) == built
        file.write_text("# Notes\n\nAnother text.\n")
        assert libraries.of_files([file, broken]).folder != built.folder
    with Libraries(tmp_path / "work", Settings(parser=ParserSettings(ocr="off"))) as libraries:
        assert libraries.of_files([broken]).folder != built.folder


def test_a_library_of_texts(paper: Paper, tmp_path: Path) -> None:
    with Libraries(tmp_path, Settings()) as libraries:
        built = libraries.of_papers([paper])
        store = libraries.store(built)
        assert store.paper("p") == paper
        assert store.indexed("p").vectors.shape == (len(store.indexed("p").chunks), FakeEmbedder().dimension)
        assert "hard examples" in libraries.library(built).ask("What does dice loss weigh more?").text


def test_a_library_that_was_cut_off_goes_on_and_one_that_moved_is_found(paper: Paper, tmp_path: Path) -> None:
    other = replace(paper, id="q", elements=(_passage("q"),))
    with Libraries(tmp_path / "a", Settings()) as libraries:
        built = libraries.of_papers([paper, other])
    (built.folder / "made.json").unlink()
    with Libraries(tmp_path / "a", Settings()) as libraries:
        assert libraries.of_papers([paper, other]).ids == {"p": "p", "q": "q"}
    shutil.move(tmp_path / "a", tmp_path / "b")
    with Libraries(tmp_path / "b", Settings()) as libraries:
        moved = libraries.of_papers([paper, other])
        assert moved.folder == tmp_path / "b" / built.folder.name
        assert len(libraries.store(moved).papers()) == 2


def _passage(paper: str) -> Passage:
    place = Place(paper=paper, page=1, box=Box(0, 0, 1, 1))
    return Passage(id=f"{paper}/passage-0", place=place, order=0, text="Focal loss is another.")
