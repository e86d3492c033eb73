"""The snapshot of a library that changes is that of the library read anew."""

import dataclasses
import logging
import sqlite3
from collections.abc import Callable

import numpy as np
import pytest

from graph_store import Store
from graph_store.database import SqliteDatabase
from graph_store.snapshot import Snapshot, SnapshotReader
from tests.graph_store.indexed_papers import LONG, PAPER_IDS, SHORT, add, make_indexed


def assert_same(one: Snapshot, other: Snapshot) -> None:
    for field in dataclasses.fields(Snapshot):
        if field.name != "vectors":
            assert getattr(one, field.name) == getattr(other, field.name)
    assert list(one.vectors) == list(other.vectors) == list(one.chunks)
    for key, vector in one.vectors.items():
        np.testing.assert_array_equal(vector, other.vectors[key])


def test_it_follows_papers_and_meanings(store: Store) -> None:
    one, two, three, *_ = PAPER_IDS
    changes: list[Callable[[], object]] = [
        lambda: add(store, make_indexed(one, names=("BERT", LONG[0]), defined=(LONG[0],))),
        lambda: add(store, make_indexed(two, names=(SHORT, "BERT", "F1"))),
        lambda: add(store, make_indexed(three, names=(LONG[3], "F1"), defined=(LONG[3],))),
        lambda: add(store, make_indexed(one, names=("BERT", "F1"))),
        lambda: store.remove(three),
    ]
    for change in changes:
        change()
        with SqliteDatabase(store.folder / "library.sqlite", mode="ro").read() as connection:
            assert_same(store.snapshot(), SnapshotReader().read(connection))
        found = store.snapshot()
        assert set(found.entities) == set(store.entities(list(found.entities)))
        assert all(store.entities([key])[key] == entity for key, entity in found.entities.items())


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE relations SET value = '{' WHERE paper = ?",
        "DELETE FROM vectors WHERE chunk IN (SELECT number FROM chunks WHERE paper = ?)",
    ],
)
def test_a_paper_is_read_once_and_a_damaged_one_reported_once(
    store: Store, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    one, two, *_ = PAPER_IDS
    add(store, make_indexed(one))
    before = store.snapshot().chunks[f"{one}/chunk-1"]
    add(store, make_indexed(two))
    with sqlite3.connect(store.folder / "library.sqlite") as connection:
        connection.execute(damage, (two,))
    with caplog.at_level(logging.WARNING):
        assert list(store.snapshot().papers) == list(store.snapshot().papers) == [one]
    assert [two in record.message for record in caplog.records] == [True]
    assert store.snapshot().chunks[f"{one}/chunk-1"] is before
