"""What a library does when the disk, the rights, another process or a newer version stand in its way."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path

import pytest

from graph_store import NativeGraphIndex, Store, writing
from graph_store import database as database_module
from graph_store.writing import crops_of_paper
from paperscope_core.errors import StoreError, StoreFullError, StoreReadOnlyError
from paperscope_core.publication import complete_publication
from paperscope_core.types import (
    Candidates,
    ModelReply,
    Paper,
    Publication,
    RetrievalRequest,
)
from tests.graph_store.indexed_papers import PAPER_IDS, add, make_indexed, unit_vector, view

ONE, TWO, *_ = PAPER_IDS
REQUEST = RetrievalRequest(text="What is the F1 of BERT?", vector=unit_vector(1))


def sql(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / "library.sqlite")
    with connection:
        connection.execute(statement)
    connection.close()


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


def test_nothing_is_accepted_into_a_library_whose_folder_was_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    with closing(Store.open(folder)) as store:
        add(store, make_indexed(ONE))
        shutil.rmtree(folder)
        with pytest.raises(StoreError, match="library"), store.database.write():
            pytest.fail("the write has begun")


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
