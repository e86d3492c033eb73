"""What a pinned question reads from memory is what the database has."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from graph_store import Store
from paperscope_core.types import PaperEntry
from tests.graph_store.indexed_papers import PAPER_IDS, Step, add, histories, make_indexed, play

ONE, TWO, *_ = PAPER_IDS


def found(store: Store, papers: list[PaperEntry]) -> list[object]:
    """All that a question may look up of these papers."""
    elements = [element.id for paper in papers for element in store.paper(paper.id).elements]
    chunks = list(store.chunks_of(elements))
    return [
        store.entries(),
        store.elements(elements),
        store.elements(elements[::-1]),
        chunks,
        store.chunks([chunk.id for chunk in chunks]),
        [list(store.chunks_of([element])) for element in elements],
    ]


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(histories())
def test_what_is_read_from_memory_equals_what_is_read_from_the_database(history: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder))
        play(store, history)
        entries = list(store.entries())
        stored = found(store, entries)
        with store.pinned(store.revision):
            assert found(store, entries) == stored
            assert found(store, entries) == stored
        store.close()


def test_a_pinned_question_reads_nothing_twice(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, make_indexed(ONE))
    entries = list(store.entries())
    with store.pinned(store.revision):
        before = found(store, entries)
        monkeypatch.setattr(store.database, "read", None)
        assert found(store, entries) == before


def test_a_change_is_seen_unless_a_question_is_pinned_before_it(store: Store) -> None:
    add(store, make_indexed(ONE))
    with store.pinned(store.revision):
        store.entries(), store.paper(ONE)
        store.remove(ONE)
        assert [entry.id for entry in store.entries()] == [ONE]
        assert store.paper(ONE).id == ONE
    add(store, make_indexed(TWO))
    assert [entry.id for entry in store.entries()] == [TWO]
    with pytest.raises(KeyError):
        store.paper(ONE)
    with store.pinned(store.revision), pytest.raises(KeyError):
        store.paper(ONE)
