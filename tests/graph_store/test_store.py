"""What is added is read back equal; what is removed leaves no trace."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_store import Store
from paperscope_core.errors import UnknownPaperError
from paperscope_core.protocols import CallCache, Corpus, VectorCache
from paperscope_core.types import Extraction, IndexedPaper, ModelReply, PaperImages, Usage, content_hash
from tests.graph_store.indexed_papers import (
    EMBEDDER,
    PAPER_IDS,
    Step,
    add,
    crop_of,
    histories,
    indexed_papers,
    make_indexed,
    play,
    unit_vector,
    view,
)

ONE, TWO, THREE, FOUR = PAPER_IDS


@pytest.fixture
def store(stored: Store) -> Store:
    return stored


@settings(max_examples=10, deadline=None)
@given(indexed_papers())
def test_a_paper_reads_back_equal(indexed: IndexedPaper) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder))
        assert add(store, indexed) == 1
        found = store.indexed(indexed.paper.id)
        assert (found.paper, found.chunks, found.extraction) == (indexed.paper, indexed.chunks, indexed.extraction)
        assert found.images == store.images(indexed.paper.id) == indexed.images
        np.testing.assert_array_equal(found.vectors, indexed.vectors)
        assert store.papers() == [indexed.paper]
        assert [store.element(element.id) for element in indexed.paper.elements] == list(indexed.paper.elements)
        assert store.crop(content_hash(crop_of(indexed.paper.id))) == crop_of(indexed.paper.id)
        store.close()


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(histories())
def test_a_library_is_what_its_papers_make_it_whatever_came_before(history: list[Step]) -> None:
    last = {step.paper: step.indexed for step in history}
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        used, fresh = Store.open(Path(one)), Store.open(Path(other))
        play(used, history)
        play(fresh, [Step(paper=paper, indexed=indexed) for paper, indexed in sorted(last.items())])
        assert view(used) == view(fresh)
        used.close()
        fresh.close()


def test_adding_a_then_b_and_removing_a_equals_adding_b(tmp_path: Path) -> None:
    a, b = make_indexed(ONE, note="in A"), make_indexed(TWO, names=("F1", "BERT", "focal loss"), weights=(0.1, 0.7))
    both, alone = Store.open(tmp_path / "both"), Store.open(tmp_path / "alone")
    add(both, a)
    add(both, b)
    merged = view(both).entities["bert"]
    assert {source.partition("/")[0] for source in merged.sources} == {ONE, TWO}
    assert both.images(ONE) == a.images != PaperImages()
    both.remove(ONE)
    assert both.images(ONE) == PaperImages()
    add(alone, b)
    assert view(both) == view(alone)
    both.close()
    alone.close()


def test_replacing_a_paper_logs_its_removal_and_the_addition(store: Store) -> None:
    add(store, make_indexed(ONE))
    revision = add(store, make_indexed(TWO), replaces=ONE)
    assert [paper.id for paper in store.papers()] == [TWO]
    assert [(change.paper, change.action) for change in store.changes_since(1)] == [(ONE, "removed"), (TWO, "added")]
    assert store.revision == revision == 3
    with pytest.raises(KeyError):
        store.element(f"{ONE}/passage-1")


def test_corpus_look_ups(store: Store) -> None:
    corpus: Corpus = store
    indexed = make_indexed(ONE)
    add(store, indexed)
    first, second = indexed.chunks[:2]
    assert corpus.chunks([first.id])[first.id] == first
    assert corpus.chunks_of([second.elements[0], first.elements[0], second.elements[0]]) == [second, first]
    assert corpus.chunks_of([f"{ONE}/figure-1"]) == []
    assert corpus.degrees(["bert", "no such"]) == {"bert": 2}
    assert list(corpus.entities(["f1", "no such", "bert"])) == ["f1", "bert"]
    for look_up in (corpus.paper, corpus.element, corpus.crop, store.indexed):
        with pytest.raises(KeyError):
            look_up("no such")
    for look_up_all in (corpus.chunks, corpus.elements):
        with pytest.raises(KeyError):
            look_up_all([first.id, first.elements[0], "no such"])
    with pytest.raises(KeyError):
        corpus.chunks_of([f"{ONE}/figure-1", "no such"])


def test_relations_between_the_entities_come_before_heavier_ones(store: Store) -> None:
    add(store, make_indexed(ONE, names=("A", "B", "C", "D"), weights=(1.0, 2.0, 9.0)))
    add(store, make_indexed(TWO, names=("A", "B"), weights=(0.5,)))
    found = store.relations_of(["a", "b", "d"], limit=3)
    assert [(one.source, one.target, one.weight) for one in found] == [
        ("a", "b", 1.5),
        ("c", "d", 9.0),
        ("b", "c", 2.0),
    ]
    assert store.relations_of(["a", "b"], limit=1) == found[:1]
    assert store.relations_of([], limit=5) == []


def test_what_some_papers_contribute_is_what_a_library_of_them_alone_holds(store: Store) -> None:
    add(store, make_indexed(ONE, names=("A", "B", "C"), weights=(1.0, 2.0)))
    add(store, make_indexed(TWO, names=("A", "B"), weights=(0.5,)))
    ids = ["a", "b", "c"]
    alone = (store.entities(ids, papers=[TWO]), store.relations_of(ids, papers=[TWO], limit=9))
    assert store.degrees(ids, papers=[TWO]) == {"a": 1, "b": 1}
    assert store.degrees(ids) == {"a": 1, "b": 2, "c": 1}
    assert {source for entity in store.entities(ids).values() for source in entity.sources} > {
        source for entity in alone[0].values() for source in entity.sources
    }
    assert [one.weight for one in store.relations_of(ids, limit=9)] == [2.0, 1.5]
    store.remove(ONE)
    assert (store.entities(ids), store.relations_of(ids, limit=9)) == alone


def test_find_paper(store: Store) -> None:
    add(store, make_indexed(ONE, title="Dice loss for imbalanced data", file="dice.pdf"))
    add(store, make_indexed(TWO, title="Dice and cards", file="cards.pdf"))
    for text in (ONE, "aaaa0", "dice.pdf", "Dice.PDF", "imbalanced", str(Path("/papers/dice.pdf"))):
        assert store.find_paper(text).id == ONE
    for text, hint in (("dice a", TWO), ("cards", TWO)):
        assert store.find_paper(text).id == hint
    with pytest.raises(UnknownPaperError, match=f"may be any of: {ONE} .*{TWO}"):
        store.find_paper("Dic")
    with pytest.raises(UnknownPaperError, match=f"'dise.pdf'.*did you mean {ONE}"):
        store.find_paper("dise.pdf")
    with pytest.raises(UnknownPaperError, match="no paper ''"):
        store.find_paper("")


def test_a_paper_is_found_by_its_file(store: Store) -> None:
    indexed = make_indexed(ONE)
    add(store, indexed)
    assert store.entry_by_sha256(indexed.paper.sha256) == store.entries()[0]
    assert store.entry_by_source(str(Path("/papers") / indexed.paper.file)) == store.entries()[0]
    assert store.entry_by_source("/elsewhere.pdf") is None
    assert store.embedder_of(ONE) == store.newest_embedder() == EMBEDDER


def test_what_does_not_fit_together_is_refused_and_nothing_is_written(store: Store) -> None:
    good = make_indexed(ONE)
    other = make_indexed(TWO)
    named = good.extraction.relations
    strange = Extraction(entities=good.extraction.entities[:1], relations=named)
    bad = [
        IndexedPaper(paper=good.paper, chunks=good.chunks, extraction=strange, vectors=good.vectors),
        IndexedPaper(paper=good.paper, chunks=other.chunks, extraction=good.extraction, vectors=good.vectors),
        IndexedPaper(paper=good.paper, chunks=good.chunks, extraction=other.extraction, vectors=good.vectors),
        IndexedPaper(paper=good.paper, chunks=good.chunks, extraction=good.extraction, vectors=good.vectors[:1]),
        IndexedPaper(paper=good.paper, chunks=good.chunks, extraction=good.extraction, vectors=good.vectors * np.nan),
    ]
    for indexed in bad:
        with pytest.raises(ValueError, match=r"names ent|names ele|belongs to|shape|infinite"):
            add(store, indexed)
    with pytest.raises(ValueError, match="names crop"):
        store.add(good, crops={}, source="/a.pdf", embedder=EMBEDDER)
    with pytest.raises(ValueError, match="another SHA-256"):
        store.add(good, crops={content_hash(b"x"): b"y"}, source="/a.pdf", embedder=EMBEDDER)
    with pytest.raises(UnknownPaperError):
        store.remove(ONE)
    assert (store.revision, store.papers()) == (0, [])
    add(store, good)
    with pytest.raises(ValueError, match="vectors of 5 numbers"):
        add(store, make_indexed(TWO, dimension=5))


def test_a_call_is_leased_until_it_is_stored_released_or_the_lease_ends(
    stored: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stored.lease_call("key", "one", seconds=60)
    assert stored.lease_call("key", "one", seconds=60)
    assert not stored.lease_call("key", "two", seconds=60)
    assert stored.lease_call("another", "two", seconds=60)
    stored.release_call("key", "two")
    assert not stored.lease_call("key", "two", seconds=60)
    assert stored.get_call("key") is None
    assert stored.usage() == {}
    stored.release_call("key", "one")
    assert stored.lease_call("key", "two", seconds=60)
    now = stored.database.now()
    monkeypatch.setattr(stored.database, "now", lambda: now + 70)
    assert stored.lease_call("key", "three", seconds=60)
    # The process of a lease was killed.
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: ended.pid)
        assert stored.lease_call("of a killed one", "five", seconds=600)
    assert stored.lease_call("of a killed one", "six", seconds=60)
    stored.put_call("key", "model", ModelReply(text="yes"))
    assert stored.lease_call("key", "four", seconds=60)
    assert stored.get_call("key") == ModelReply(text="yes")


def test_calls_and_embeddings_are_remembered(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    calls: CallCache = store
    vectors: VectorCache = store
    reply = ModelReply(text="yes", usage=Usage(calls=1, prompt_tokens=7, cost=0.25))
    calls.put_call("key", "model", ModelReply(text="no"))
    calls.put_call("key", "model", reply)
    vectors.put_vectors(EMBEDDER, {"a text": unit_vector(1), "another": unit_vector(2)})
    vectors.put_vectors(EMBEDDER, {"a text": unit_vector(3)})
    store.close()
    store = Store.open(tmp_path)
    assert store.get_call("key") == reply
    assert store.get_call("other") is None
    found = store.get_vectors(EMBEDDER, ["a text", "unknown"])
    assert list(found) == ["a text"]
    np.testing.assert_array_equal(found["a text"], unit_vector(3))
    assert store.get_vectors("other", ["a text"]) == {}
    store.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text() | st.sampled_from(("../library.sqlite", "ab/" + "0" * 61, "0" * 64, "A" * 64, "\0" * 64)))
def test_no_name_of_a_crop_leads_out_of_its_folder(store: Store, crop: str) -> None:
    with pytest.raises(KeyError):
        store.crop(crop)


def test_sweep_deletes_orphaned_crops(store: Store) -> None:
    add(store, make_indexed(ONE))
    add(store, make_indexed(TWO))
    orphan = store.folder / "crops" / "ff" / ("f" * 64 + ".png")
    orphan.parent.mkdir(exist_ok=True)
    orphan.write_bytes(b"left by a killed add")
    store.remove(ONE)
    assert store.sweep() == 2
    assert store.crop(content_hash(crop_of(TWO)))
    with pytest.raises(KeyError):
        store.crop(content_hash(crop_of(ONE)))
    assert store.sweep() == 0


def test_papers_are_added_while_a_sweep_lists_the_crops(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, make_indexed(ONE))
    store.remove(ONE)
    names = store.objects.names

    def slow_names(folder: str) -> Mapping[str, float]:
        found = names(folder)
        add(store, make_indexed(ONE))
        return found

    monkeypatch.setattr(store.objects, "names", slow_names)
    assert store.sweep() == 0
    assert store.crop(content_hash(crop_of(ONE)))
