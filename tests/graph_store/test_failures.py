"""What a library does when the disk, the rights, another process or a newer version stand in its way."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect

from graph_store import NativeGraphIndex, Store, writing
from graph_store import database as database_module
from graph_store.migrations import upgrade
from graph_store.schema import SCHEMA_VERSION
from graph_store.writing import crops_of_paper
from paperscope_core.errors import StoreError, StoreFullError, StoreReadOnlyError, StoreVersionError
from paperscope_core.publication import complete_publication
from paperscope_core.types import (
    Candidates,
    ModelReply,
    Paper,
    PaperImages,
    Publication,
    RetrievalRequest,
    Shortfall,
)
from tests.graph_store.indexed_papers import PAPER_IDS, add, make_indexed, unit_vector, view

ONE, TWO, *_ = PAPER_IDS
REQUEST = RetrievalRequest(text="What is the F1 of BERT?", vector=unit_vector(1))


def sql(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / "library.sqlite")
    with connection:
        connection.execute(statement)
    connection.close()


def make_version_1(folder: Path) -> None:
    for table in ("images", "shortfalls", "short_forms", "meanings", "verdicts"):
        sql(folder, f"DROP TABLE {table}")
    sql(folder, "UPDATE library SET version = 1")


def test_a_newer_library_names_both_versions(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    sql(tmp_path, "UPDATE library SET version = 99")
    for read_only in (False, True):
        with pytest.raises(
            StoreVersionError,
            match=rf"version 99; this one reads up to {SCHEMA_VERSION}\); update Paperscope",
        ):
            Store.open(tmp_path, read_only=read_only)


def test_an_older_library_is_brought_up_to_date(store: Store) -> None:
    add(store, make_indexed(ONE))
    before = view(store)

    def add_table(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE novelty (name TEXT)")

    def add_column(connection: Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE novelty ADD COLUMN value TEXT")

    def fail(connection: Connection) -> None:
        raise RuntimeError("killed here")

    file, after = store.folder / "library.sqlite", SCHEMA_VERSION + 2
    with pytest.raises(RuntimeError), store.database.write() as connection:
        upgrade(connection, where=file, files=store.folder, version=after, steps={after - 1: add_table, after: fail})
    with store.database.read() as connection:
        assert "novelty" not in inspect(connection).get_table_names()
    with store.database.write() as connection:
        upgrade(
            connection, where=file, files=store.folder, version=after, steps={after - 1: add_table, after: add_column}
        )
    assert view(store) == before
    with pytest.raises(StoreVersionError, match=f"version {after}"):
        Store.open(store.folder)


def test_a_library_of_version_1_has_no_images_and_no_shortfall_until_its_papers_are_added_again(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    add(store, make_indexed(ONE, note="seen"))
    store.close()
    make_version_1(tmp_path)
    old = Store.open(tmp_path, read_only=True)
    assert old.images(ONE) == PaperImages()
    assert old.indexed(ONE).images == PaperImages()
    assert old.indexed(ONE).extraction.shortfall == old.shortfall(ONE) == Shortfall()
    old.close()
    new = Store.open(tmp_path)
    assert new.images(ONE) == PaperImages()
    add(new, make_indexed(ONE, note="seen"))
    assert new.shortfall(ONE).unread != ()
    assert [reading.kind for reading in new.images(ONE).readings] == ["description", "skipped", "unread"]
    new.close()


def test_a_reader_of_an_older_library_sees_what_another_process_adds_after_upgrading_it(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    add(store, make_indexed(ONE))
    store.close()
    make_version_1(tmp_path)
    reader = Store.open(tmp_path, read_only=True)
    assert reader.images(ONE) == PaperImages()
    with closing(Store.open(tmp_path)) as writer:
        add(writer, make_indexed(ONE, note="seen"))
        assert reader.images(ONE) == writer.images(ONE) != PaperImages()
    reader.close()


def test_upgrading_adds_the_authors_years_and_ids_of_papers(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    add(store, make_indexed(ONE, file="2310.07609v1.pdf"))
    [entry] = store.entries()
    assert (entry.authors, entry.year, entry.arxiv) == (("A. Writer", "B. Ødegård"), 2023, "2310.07609")
    store.close()
    sql(tmp_path, "DROP TABLE bylines")
    sql(tmp_path, "DROP TABLE publications")
    sql(tmp_path, "UPDATE library SET version = 6")
    old = Store.open(tmp_path, read_only=True)
    assert list(old.entries()) == [replace(entry, authors=(), year=None, arxiv="")]
    old.close()
    new = Store.open(tmp_path)
    assert list(new.entries()) == [entry]
    new.close()


def test_what_is_known_of_a_publication_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()

    def complete(paper: Paper) -> Publication:
        read.append(paper.id)
        return complete_publication(paper)

    monkeypatch.setattr(writing, "complete_publication", complete)
    indexed = make_indexed(ONE, file="2310.07609v1.pdf")
    known = complete_publication(indexed.paper)
    with closing(Store.open(tmp_path)) as store:
        add(store, indexed)
        assert read == [ONE]
        add(store, replace(indexed, paper=replace(indexed.paper, publication=known)))
        assert read == [ONE]
        [entry] = store.entries()
    assert (entry.year, entry.arxiv) == (2023, "2310.07609")


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    sql(tmp_path, "CREATE TABLE other (name TEXT)")
    with pytest.raises(StoreError, match="no Paperscope library"):
        Store.open(tmp_path)
    (tmp_path / "library.sqlite").write_bytes(b"not a database at all" * 1000)
    for read_only in (False, True):
        with pytest.raises(StoreError, match="damaged"):
            Store.open(tmp_path, read_only=read_only)
    with pytest.raises(StoreError, match="no library there"):
        Store.open(tmp_path / "missing", read_only=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="choose another folder"):
        Store.open(tmp_path / "file")


@pytest.mark.parametrize("indexed_before", [True, False])
def test_a_library_that_may_not_be_written_answers(
    guarded_folder: Path, unprivileged: Callable[[], AbstractContextManager[None]], indexed_before: bool
) -> None:
    folder = guarded_folder / "library"
    store = Store.open(folder)
    add(store, make_indexed(ONE))
    before = view(store)
    index = NativeGraphIndex.open(store, folder / "index" if indexed_before else guarded_folder / "elsewhere")
    expected = index.retrieve(REQUEST)
    index.close()
    store.close()
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with unprivileged():
        with pytest.raises(StoreReadOnlyError, match=r"not writable.*change its permissions"):
            Store.open(folder)
        store = Store.open(folder, read_only=True)
        assert view(store) == before
        for change in (
            lambda: add(store, make_indexed(TWO)),
            lambda: store.remove(ONE),
            lambda: store.put_call("key", "model", ModelReply(text="yes")),
            store.sweep,
        ):
            with pytest.raises(StoreReadOnlyError):
                change()
        index = NativeGraphIndex.open(store)
        assert index.retrieve(REQUEST) == expected
        index.close()
        store.close()


def test_a_reader_follows_a_writer(store: Store) -> None:
    add(store, make_indexed(ONE))
    NativeGraphIndex.open(store).close()
    reader = Store.open(store.folder, read_only=True)
    index = NativeGraphIndex.open(reader)
    assert not any(TWO in hit.id for hit in index.retrieve(REQUEST).by_vectors)
    add(store, make_indexed(TWO))
    found = index.retrieve(REQUEST)
    assert {hit.id.partition("/")[0] for hit in (*found.by_vectors, *found.by_words)} == {ONE, TWO}
    index.close()
    reader.close()


def test_a_full_disk_leaves_the_library_as_it_was(store: Store) -> None:
    add(store, make_indexed(ONE))
    before = view(store)
    with store.database.read() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
    huge = make_indexed(TWO, texts=["word " * 100_000])
    with pytest.raises(StoreFullError, match="the disk is full; free some space"):
        add(store, huge)
    assert (view(store), store.revision) == (before, 1)
    with store.database.read() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    assert add(store, huge) == 2


def test_a_disk_that_fills_up_while_crops_are_written(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreFullError):
            add(store, make_indexed(ONE))
    assert store.papers() == []
    assert [path for path in (store.folder / "crops").rglob("*") if path.is_file()] == []
    add(store, make_indexed(ONE))


def test_another_process_that_holds_the_library_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "_BUSY_SECONDS", 0.05)
    store = Store.open(tmp_path)
    holder = sqlite3.connect(tmp_path / "library.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="another process has locked it"):
        add(store, make_indexed(ONE))
    assert store.papers() == []
    holder.execute("ROLLBACK")
    holder.close()
    assert add(store, make_indexed(ONE)) == 1
    store.close()


def test_text_that_utf8_cannot_hold_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        add(store, make_indexed(ONE, texts=["\ud800"]))
    assert store.papers() == []
    index = NativeGraphIndex.open(store)
    lone = RetrievalRequest(text="\ud800 F1", vector=unit_vector(1))
    assert index.retrieve(lone) == Candidates()
    index.close()


@pytest.mark.parametrize("emptied", [True, False])
@pytest.mark.parametrize("kept", ["crops", "index", "originals"])
def test_a_library_whose_database_is_gone_is_not_taken_for_a_new_one(tmp_path: Path, kept: str, emptied: bool) -> None:
    kept_file = {"crops": "crops/ab/ab.png", "index": "index/words.sqlite", "originals": "originals/ab/a.pdf"}[kept]
    Store.open(tmp_path).close()
    (tmp_path / kept_file).parent.mkdir(parents=True)
    (tmp_path / kept_file).write_bytes(b"")
    Store.open(tmp_path).close()
    (tmp_path / "library.sqlite").unlink()
    if emptied:
        (tmp_path / "library.sqlite").write_bytes(b"")
    for read_only in (False, True, False):
        with pytest.raises(StoreError, match=r"library.sqlite.*restore it from a backup|no library there"):
            Store.open(tmp_path, read_only=read_only)


def test_a_library_that_was_never_finished_is_created(tmp_path: Path) -> None:
    (tmp_path / "crops").mkdir()
    (tmp_path / "library.lock").touch()
    (tmp_path / "library.sqlite").touch()
    with pytest.raises(StoreError, match="no library there"):
        Store.open(tmp_path, read_only=True)
    Store.open(tmp_path).close()


@pytest.mark.parametrize("damage", [b"", b"\x89PNG truncated"])
def test_a_damaged_crop_is_missing_until_its_paper_is_added_again(store: Store, damage: bytes) -> None:
    indexed = make_indexed(ONE)
    add(store, indexed)
    [crop, *_] = sorted(crops_of_paper(indexed.paper))
    before = store.crop(crop)
    [file] = store.folder.glob(f"crops/??/{crop}.png")
    file.write_bytes(damage)
    with pytest.raises(KeyError):
        store.crop(crop)
    add(store, indexed)
    assert store.crop(crop) == before


@pytest.mark.sqlite("takes away the right to write the file of the library")
def test_a_library_that_can_no_longer_be_written_has_no_room(
    guarded_folder: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    guarded_folder.chmod(0o777)
    file = guarded_folder / "library" / "library.sqlite"
    with unprivileged():
        store = Store.open(file.parent)
        store.check_room()
    file.chmod(0o444)
    with unprivileged(), pytest.raises(StoreReadOnlyError, match="not writable"):
        store.check_room()
    file.unlink()
    with pytest.raises(StoreError, match="No such file"):
        store.check_room()
    store.close()
