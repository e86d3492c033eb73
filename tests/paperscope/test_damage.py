"""A damaged value in the store concerns its paper only: the others answer, and it can be removed or added again."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from graph_store import Store
from paperscope.library import Library
from paperscope_core.errors import StoreDamagedError
from paperscope_core.models import FakeEmbedder, Models
from paperscope_core.settings import Settings
from paperscope_core.types import DoneEvent

QUESTION = "Which taggers are compared?"
DAMAGE = {
    "papers": "UPDATE papers SET value = substr(value, 1, 20) WHERE id = :paper",
    "elements": "UPDATE elements SET value = '{}' WHERE paper = :paper",
    "chunks": "UPDATE chunks SET value = 'x' WHERE paper = :paper",
    "vectors": "UPDATE vectors SET vector = x'00' WHERE chunk IN (SELECT number FROM chunks WHERE paper = :paper)",
    "no vectors": "UPDATE vectors SET vector = x'' WHERE chunk IN (SELECT number FROM chunks WHERE paper = :paper)",
    "vectors cut alike": "UPDATE vectors SET vector = substr(vector, 1, 128) "
    "WHERE chunk IN (SELECT number FROM chunks WHERE paper = :paper)",
    "entities": "UPDATE entities SET value = '' WHERE paper = :paper",
    "relations": "UPDATE relations SET value = '[1' WHERE paper = :paper",
}


def open_library(folder: Path) -> Library:
    return Library(store=Store.open(folder), settings=Settings(), models=Models(embedder=FakeEmbedder()))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """A library with two papers, and the file and id of the first."""
    folder = tmp_path_factory.mktemp("damage")
    file = folder / "a.md"
    text = "Conditional random fields (CRF) are taggers. Three taggers are compared by CRF. BERT is evaluated on CoNLL."
    file.write_text(f"# One\n\n{text}\n")
    (folder / "b.md").write_text("# Two\n\nTwo taggers are compared in another report on CRF.\n")
    with open_library(folder / "library") as library:
        damaged = library.add(file).paper.id
        library.add(folder / "b.md")
    return folder / "library", file, damaged


def copied(made: tuple[Path, Path, str], folder: Path, *damage: str) -> Path:
    """A copy of the library in which values of the first paper are damaged, without its index."""
    (folder / "library").mkdir()
    with (
        closing(sqlite3.connect(made[0] / "library.sqlite")) as source,
        closing(sqlite3.connect(folder / "library" / "library.sqlite")) as copy,
    ):
        source.backup(copy)
    for one in damage:
        do_damage(folder / "library", made[2], one)
    return folder / "library"


def do_damage(library: Path, paper: str, damage: str) -> None:
    with closing(Store.open(library)) as store, store.database.write() as connection:
        assert connection.execute(text(DAMAGE[damage]), {"paper": paper}).rowcount > 0


@pytest.fixture(params=DAMAGE)
def damaged(request: pytest.FixtureRequest, made: tuple[Path, Path, str], tmp_path: Path) -> Iterator[Library]:
    with open_library(copied(made, tmp_path, request.param)) as library:
        yield library


def test_the_others_answer_and_a_read_names_the_paper(damaged: Library, made: tuple[Path, Path, str]) -> None:
    paper = made[2]
    other = next(entry.id for entry in damaged.entries() if entry.id != paper)
    assert other in {source.place.paper for source in damaged.ask(QUESTION).context.sources}
    with pytest.raises(StoreDamagedError, match=f"paper '{paper}' is damaged; remove the paper and add it again"):
        damaged._store.indexed(paper)


def test_it_can_be_removed_and_added_again(damaged: Library, made: tuple[Path, Path, str]) -> None:
    _, file, paper = made
    assert damaged.remove(paper).id == paper
    assert damaged.add(file).outcome == "added"
    damaged._store.indexed(paper)


def test_adding_it_again_repairs_it(damaged: Library, made: tuple[Path, Path, str]) -> None:
    _, file, paper = made
    assert damaged.add(file).outcome == "replaced"
    damaged._store.indexed(paper)
    assert {source.place.paper for source in damaged.ask(QUESTION).context.sources} == {
        entry.id for entry in damaged.entries()
    }


def test_a_context_says_what_was_left_out(made: tuple[Path, Path, str], tmp_path: Path) -> None:
    with open_library(copied(made, tmp_path)) as library:
        do_damage(tmp_path / "library", made[2], "papers")
        [finding] = library.retrieve(QUESTION).findings
        assert (finding.kind, finding.subject) == ("paper", made[2])
        assert f"{made[2]!r} is damaged" in finding.message


@pytest.mark.parametrize("streamed", [True, False])
async def test_an_answer_says_what_was_left_out(made: tuple[Path, Path, str], tmp_path: Path, streamed: bool) -> None:
    paper = made[2]
    with open_library(copied(made, tmp_path)) as library:
        do_damage(tmp_path / "library", paper, "papers")
        if streamed:
            [answer] = [event.answer async for event in library.stream(QUESTION) if isinstance(event, DoneEvent)]
        else:
            answer = await library.ask_async(QUESTION)
        assert paper not in {source.place.paper for source in answer.context.sources}
        assert ("paper", paper) in [(finding.kind, finding.subject) for finding in answer.findings]
        with pytest.raises(StoreDamagedError, match=paper):
            await library.ask_async(QUESTION, papers=[paper])


def test_the_log_says_what_is_not_searched(
    made: tuple[Path, Path, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), open_library(copied(made, tmp_path, "vectors")):
        assert f"{made[2]!r} is damaged" in caplog.text
