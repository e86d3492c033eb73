"""Libraries of older versions are upgraded when they are opened."""

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from graph_store import NativeGraphIndex, Store
from paperscope_core.types import IndexedPaper, RetrievalRequest
from tests.graph_store.indexed_papers import PAPER_IDS, add, make_indexed, unit_vector, view

ONE, TWO, *_ = PAPER_IDS


def with_ids(indexed: IndexedPaper, **ids: str) -> IndexedPaper:
    """The paper with entities renamed as the rules for plurals did that were in use before version 9."""
    extraction = indexed.extraction
    entities = tuple(replace(one, id=ids.get(one.id, one.id)) for one in extraction.entities)
    relations = tuple(
        replace(one, source=ids.get(one.source, one.source), target=ids.get(one.target, one.target))
        for one in extraction.relations
    )
    return replace(indexed, extraction=replace(extraction, entities=entities, relations=relations))


def test_the_ids_of_entities_follow_the_lexicon_from_version_9_on(tmp_path: Path) -> None:
    names = ("species", "bias", "focal loss")
    with closing(Store.open(tmp_path / "old")) as store:
        add(store, with_ids(make_indexed(ONE, names=names), species="specy", bias="bia"))
        NativeGraphIndex.open(store).close()
    with closing(sqlite3.connect(tmp_path / "old" / "library.sqlite")) as connection, connection:
        connection.execute("UPDATE library SET version = 8")
    with closing(Store.open(tmp_path / "old", read_only=True)) as store:
        assert [one.id for one in store.indexed(ONE).extraction.entities] == ["specy", "bia", "focal loss"]
    with closing(Store.open(tmp_path / "old")) as store, closing(Store.open(tmp_path / "new")) as fresh:
        add(fresh, make_indexed(ONE, names=names))
        assert view(store) == view(fresh)
        add(store, make_indexed(TWO, names=names))
        assert len(store.entities(["species"])["species"].sources) == 2
        with closing(NativeGraphIndex.open(store)) as index:
            found = index.retrieve(RetrievalRequest(text="Which species?", vector=unit_vector(1)))
        assert found.named[0].id == "species"
        assert "bias" in {hit.id for hit in found.reached}


def test_entities_of_one_paper_that_get_one_id_are_merged(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path)) as store:
        indexed = make_indexed(ONE, names=("matrices", "rank", "matrix"))
        add(store, with_ids(indexed, matrices="matrice"))
    with closing(sqlite3.connect(tmp_path / "library.sqlite")) as connection, connection:
        connection.execute("UPDATE library SET version = 8")
    with closing(Store.open(tmp_path)) as store:
        entity = store.entities(["matrix"])["matrix"]
        assert {entity.name, *entity.aliases} >= {"matrices", "matrix"}
        relations = store.indexed(ONE).extraction.relations
        assert [(one.source, one.target) for one in relations] == [("matrix", "rank"), ("rank", "matrix")]


def test_papers_of_older_versions_were_added_when_the_library_was_upgraded(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path)) as store:
        add(store, make_indexed(ONE))
    with closing(sqlite3.connect(tmp_path / "library.sqlite")) as connection, connection:
        connection.execute("DROP TABLE additions")
        connection.execute("UPDATE library SET version = 12")
    with closing(Store.open(tmp_path, read_only=True)) as store:
        assert not store.snapshot().added
    before = time.time()
    with closing(Store.open(tmp_path)) as store:
        (added,) = store.snapshot().added.values()
        assert before <= added <= time.time()
        add(store, make_indexed(TWO))
    with closing(Store.open(tmp_path)) as store:
        times = store.snapshot().added
        assert times[ONE] == added < times[TWO]


def test_the_passwords_of_older_versions_are_deleted_from_the_file_and_its_log(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path)) as store:
        made = store.jobs.create("add", "{}").id

    def stored() -> bytes:
        return b"".join(file.read_bytes() for file in tmp_path.glob("library.sqlite*"))

    with closing(sqlite3.connect(tmp_path / "library.sqlite")) as connection:
        connection.execute("UPDATE library SET version = 9")
        connection.execute("ALTER TABLE jobs ADD COLUMN secret TEXT NOT NULL DEFAULT ''")
        connection.execute("UPDATE jobs SET secret = 'open sesame'")
        connection.commit()
        assert b"open sesame" in stored()
        with closing(Store.open(tmp_path)) as store:
            assert store.jobs.get(made).state == "queued"
            assert store.jobs.create("add", "{}").state == "queued"
            assert b"open sesame" not in stored()


def test_the_jobs_of_older_versions_are_reserved_for_nobody(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path)) as store:
        made = store.jobs.create("add", "{}").id
    with closing(sqlite3.connect(tmp_path / "library.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE jobs DROP COLUMN reserved")
        connection.execute("UPDATE library SET version = 13")
    with closing(Store.open(tmp_path, read_only=True)) as store:
        assert store.jobs.get(made).state == "queued"
    with closing(Store.open(tmp_path)) as store:
        claimed = store.jobs.claim("worker")
        assert claimed is not None
        assert claimed.id == made
