"""The doctor finds what is damaged, changes nothing but indexes, and repairs these."""

import errno
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from graph_store import Store
from graph_store.index.text_index import TextIndex
from paperscope.doctor import Diagnosis, diagnose
from paperscope.library import Library
from paperscope_core.models import FakeEmbedder, Models
from paperscope_core.models.weights import find_weights
from paperscope_core.settings import RetrievalSettings, Settings
from tests.postgresql_server import PostgresServer

Damage = Callable[[Path], object]


class Embedder(FakeEmbedder):
    """A fake with the name of the bundled embedder."""

    def __init__(self) -> None:
        super().__init__()
        self.name = find_weights("").name


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with an uploaded paper that has a picture."""
    folder = tmp_path_factory.mktemp("doctor")
    text = "Conditional random fields (CRF) are taggers.\n\n| Model | F1 |\n|---|---|\n| CRF | 0.9 |\n"
    (folder / "a.md").write_text(f"# One\n\n{text}\n\nTaggers are compared by CRF. BERT is evaluated on CoNLL.\n")
    library = folder / "library"
    models = Models(embedder=Embedder())
    with Library(store=Store.open(library), settings=Settings(), models=models) as opened:
        opened.add(folder / "a.md", name="a.md")
        assert opened.retrieve("Which taggers?").sources
    return library


@pytest.fixture
def library(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "library")
    return tmp_path / "library"


def diagnosed(library: Path, *, repair: bool = False) -> list[Diagnosis]:
    return list(diagnose(Settings(library=library), repair=repair))


def problems(library: Path) -> list[str]:
    return [f"{one.part}: {one.text}" for one in diagnosed(library) if one.level == "problem"]


def sql(library: Path, *statements: str) -> None:
    with closing(sqlite3.connect(library / "library.sqlite", isolation_level=None)) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount, statement


def test_a_sound_library_has_no_problem(library: Path) -> None:
    found = diagnosed(library)
    assert {one.level for one in found} == {"ok"}
    assert [one.part for one in found] == ["versions", "database", "files", "index", "models"]


def _other_original(library: Path) -> None:
    next((library / "originals").glob("*/a.md")).write_text("another text")


def _other_index(library: Path) -> None:
    words, size = library / "index" / "words.sqlite", 4096
    words.write_bytes(b"no database".ljust(size, b"."))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda it: sql(it, "DELETE FROM vectors"), "chunks have no vector (paper"),
        (lambda it: sql(it, "UPDATE elements SET value = '{}'"), "database: "),
        (lambda it: sql(it, "DELETE FROM elements"), "database: 5 elements of chunks are missing (paper"),
        (lambda it: sql(it, "UPDATE relations SET source = 'nothing'"), "that is no entity of their paper (paper"),
        (lambda it: sql(it, "INSERT INTO bylines VALUES ('no paper', '', 1)"), "rows name others that are missing"),
        (lambda it: sql(it, "UPDATE library SET version = 99"), "database: "),
        (lambda it: (it / "library.sqlite").write_bytes(b"no database" * 1000), "database: "),
        (lambda it: (it / "library.sqlite").unlink(), "database: "),
        (_other_original, "files: the library's copy of 'a.md' is damaged; upload it again"),
        (_other_index, "index: the index of words can't be read"),
        (lambda it: (it / "index" / "vectors.snapshot").write_bytes(b"{}\n"), "index: the snapshot of vectors"),
        (lambda it: sql(it, "UPDATE papers SET embedder = 'another'"), "models: 1 papers were embedded by another"),
    ],
)
def test_damage_is_named(library: Path, damage: Damage, message: str) -> None:
    damage(library)
    assert any(message in one for one in problems(library)), problems(library)


def test_a_lost_picture_is_named(library: Path) -> None:
    sql(library, "INSERT INTO paper_crops SELECT id, 'aaaa' FROM papers")
    assert ["1 pictures of paper" in one for one in problems(library)] == [True]


def test_an_index_that_lacks_chunks_is_built_again_and_nothing_else_changes(library: Path) -> None:
    with closing(sqlite3.connect(library / "index" / "words.sqlite", isolation_level=None)) as words:
        words.execute("DELETE FROM chunks")
    (library / "index" / "vectors.snapshot").write_bytes(b"{}\n")
    with closing(sqlite3.connect(library / "library.sqlite")) as truth:
        before = list(truth.iterdump())
    assert any("the index of words has 0 chunks" in one for one in problems(library))
    repaired = diagnosed(library, repair=True)
    assert "repaired" in {one.level for one in repaired}
    assert "problem" not in {one.level for one in repaired}
    assert problems(library) == []
    with closing(sqlite3.connect(library / "library.sqlite")) as truth:
        assert list(truth.iterdump()) == before
    with Library(store=Store.open(library), settings=Settings(), models=Models(embedder=Embedder())) as opened:
        assert opened.retrieve("Which taggers?").sources


def test_a_copy_that_sqlite_wrote_is_a_backup(library: Path, tmp_path: Path) -> None:
    """The backup of the guide: the database by `VACUUM INTO`, pictures and originals as files, no index."""
    copy = tmp_path / "copy"
    copy.mkdir()
    sql_copy = f"VACUUM INTO '{copy / 'library.sqlite'}'"
    with closing(sqlite3.connect(library / "library.sqlite")) as connection:
        connection.execute(sql_copy)
    for folder in ("crops", "originals"):
        shutil.copytree(library / folder, copy / folder)
    assert problems(copy) == []
    models = Models(embedder=Embedder())
    with (
        Library(store=Store.open(library), settings=Settings(), models=models) as one,
        Library(store=Store.open(copy), settings=Settings(), models=Models(embedder=Embedder())) as other,
    ):
        assert one.papers() == other.papers()
        assert one.retrieve("Which taggers?") == other.retrieve("Which taggers?")
    assert problems(copy) == []


def test_an_index_that_may_not_be_read_is_a_problem(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(file: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(file))

    monkeypatch.setattr(TextIndex, "open_read_only", forbid)
    assert any(one.startswith("index: ") and "words.sqlite: the library is not" in one for one in problems(library))


@pytest.mark.slow
def test_a_library_that_is_searched_in_postgresql(postgresql: PostgresServer, tmp_path: Path) -> None:
    address = postgresql.address(tmp_path)
    settings = Settings(library=address, retrieval=RetrievalSettings(index="postgresql"))
    (tmp_path / "a.md").write_text("# One\n\nConditional random fields (CRF) are taggers. CRF is evaluated on CoNLL.\n")
    with Library(store=Store.open(address), settings=settings, models=Models(embedder=Embedder())) as opened:
        opened.add(tmp_path / "a.md", name="a.md")
        assert opened.retrieve("Which taggers?").sources
        assert opened.neighbourhood("CRF").center.name
    assert not (address.cache / "index").exists()
    assert {one.level for one in diagnose(settings)} == {"ok"}
    with closing(Store.open(address)) as store, store.database.write() as connection:
        connection.exec_driver_sql("DELETE FROM search_chunks")
    assert {one.part for one in diagnose(settings) if one.level == "problem"} == {"index"}
    assert "repaired" in {one.level for one in diagnose(settings, repair=True)}
    assert {one.level for one in diagnose(settings)} == {"ok"}
    embedded = settings.model_copy(update={"library": tmp_path / "folder"})
    Store.open(tmp_path / "folder").close()
    assert ["needs a library in PostgreSQL" in one.text for one in diagnose(embedded) if one.level == "problem"] == [
        True
    ]
