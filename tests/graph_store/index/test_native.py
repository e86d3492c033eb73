"""The derived index: what it proposes, and that it always equals one built anew."""

import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_store import NativeGraphIndex, Store
from graph_store.index import bm25, native, text_index
from graph_store.index.text_index import TextIndex
from graph_store.reading import Checkpoint, Searchable
from paperscope_core.errors import SettingsError
from paperscope_core.types import WORK, Box, Candidates, Chunk, Filters, Hit, Place, RetrievalRequest
from tests.graph_store.indexed_papers import (
    DIMENSION,
    METHODS,
    PAPER_IDS,
    Step,
    add,
    histories,
    make_indexed,
    play,
    unit_vector,
)

ONE, TWO, THREE, FOUR = PAPER_IDS
WORDS = st.text() | st.sampled_from(METHODS) | st.sampled_from(('"', "NEAR(", "a OR (", "*", "text:", "'; DROP"))


def ask(text: str = "BERT", *, papers: tuple[str, ...] = (), limit: int = 100) -> RetrievalRequest:
    return RetrievalRequest(text=text, vector=unit_vector(1), filters=Filters(papers=papers), limit=limit)


def rounded(candidates: Candidates) -> dict[str, list[tuple[float, str]]]:
    lists = {field.name: getattr(candidates, field.name) for field in dataclasses.fields(candidates)}
    return {name: sorted((round(hit.score, 5), hit.id) for hit in hits) for name, hits in lists.items()}


def ids(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.id for hit in hits]


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(histories(), st.lists(WORDS, min_size=1, max_size=3), st.lists(st.sampled_from(PAPER_IDS), max_size=2))
def test_an_updated_index_equals_a_new_one(history: list[Step], texts: list[str], papers: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder))
        following = NativeGraphIndex.open(store)
        for step in history:
            play(store, [step])
            following.catch_up()
        fresh = NativeGraphIndex.open(store, Path(folder) / "fresh")
        assert following.revision == fresh.revision == store.revision
        for text in (" ".join(METHODS), *texts):
            request = ask(text, papers=tuple(papers))
            assert rounded(following.retrieve(request)) == rounded(fresh.retrieve(request))
        following.close()
        fresh.close()
        store.close()


def test_names_with_signs_and_digits_are_found(store: Store) -> None:
    add(store, make_indexed(ONE, names=METHODS))
    index = NativeGraphIndex.open(store)
    for number, name in enumerate(METHODS, start=1):
        found = index.retrieve(ask(f"What does {name} reach?"))
        assert f"{ONE}/chunk-{number}" in ids(found.by_words)[:3]
        assert found.named[0].id == name.casefold().replace("-", " ")
    index.close()


def test_what_is_named_and_what_is_reached(store: Store) -> None:
    add(store, make_indexed(ONE, names=("A1", "B1", "C1", "D1", "E1")))
    index = NativeGraphIndex.open(store)
    found = index.retrieve(ask("Tell me of A1"))
    assert ids(found.named)[0] == "a1"
    assert ids(found.reached) == ["b1", "c1"]
    assert ids(index.retrieve(ask("the A1 variant")).named)[0] == "a1"
    assert index.retrieve(ask("nothing known")).reached == ()
    assert index.retrieve(ask("A1", limit=1)).reached == found.reached[:1]
    index.close()


def test_a_work_is_found_by_its_full_name_only(store: Store) -> None:
    indexed = make_indexed(ONE, names=("Focal loss", "Losses for trees by night"))
    term, work = indexed.extraction.entities
    entities = (term, dataclasses.replace(work, type=WORK))
    extraction = dataclasses.replace(indexed.extraction, entities=entities)
    for _ in range(2):  # added again, it must not become known by its words
        add(store, dataclasses.replace(indexed, extraction=extraction))
        index = NativeGraphIndex.open(store)
        assert ids(index.retrieve(ask("Which loss works by night?")).named) == [term.id]
        assert ids(index.retrieve(ask("Who wrote Losses for Trees by Night?")).named)[0] == work.id
        index.close()
    store.remove(ONE)
    index = NativeGraphIndex.open(store)
    assert index.retrieve(ask("Losses for trees by night")).named == ()
    index.close()


def test_vectors_are_compared_exactly(store: Store) -> None:
    indexed = make_indexed(ONE, names=METHODS)
    add(store, indexed)
    index = NativeGraphIndex.open(store)
    scores = indexed.vectors @ unit_vector(1)
    found = index.retrieve(ask(limit=3)).by_vectors
    assert ids(found) == [indexed.chunks[row].id for row in np.argsort(-scores)[:3]]
    assert [hit.score for hit in found] == pytest.approx(sorted(scores, reverse=True)[:3], abs=1e-6)
    index.close()


def test_a_score_by_words_is_a_share_of_what_the_words_can_give(store: Store) -> None:
    texts = ["gradient boosting", "gradient boosting of trees by night", "gradient of a hill", *("a plain text",) * 20]
    add(store, make_indexed(ONE, texts=texts))
    index = NativeGraphIndex.open(store)

    def shares(question: str) -> list[float]:
        return [round(hit.score, 2) for hit in index.retrieve(ask(question)).by_words]

    best, second, third = shares("gradient boosting")
    assert 0 < third < second < best <= 1
    assert best > 0.4
    assert shares("gradient boosting of whales, zebras and yaks")[0] < 0.5 * best
    assert shares("Why plain?")[0] < 0.01, "a word of most texts tells nothing"
    add(store, make_indexed(TWO, texts=[*("gradient boosting",) * 60, *("another text",) * 80]))
    assert 0 < shares("gradient boosting")[0] <= 1, "the library has grown"
    index.close()


def damage_words(folder: Path) -> None:
    (folder / "words.sqlite").write_bytes(b"no database, but long enough to look like one" * 100)


def damage_pages(folder: Path) -> None:
    file = folder / "words.sqlite"
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    file.write_bytes(data)


def lose_words(folder: Path) -> None:
    for file in folder.glob("words.sqlite*"):
        file.unlink()


def damage_snapshot(folder: Path) -> None:
    file = folder / "vectors.snapshot"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


def lose_snapshot(folder: Path) -> None:
    (folder / "vectors.snapshot").unlink()


@pytest.mark.parametrize("hurt", [damage_words, damage_pages, lose_words, damage_snapshot, lose_snapshot])
def test_damaged_and_missing_files_are_rebuilt(
    store: Store, hurt: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "_STALE_LEAST", 1)
    add(store, make_indexed(ONE))
    index = NativeGraphIndex.open(store)
    before = rounded(index.retrieve(ask("F1 of BERT")))
    index.close()
    hurt(store.folder / "index")
    index = NativeGraphIndex.open(store)
    assert rounded(index.retrieve(ask("F1 of BERT"))) == before
    index.close()


def test_an_index_of_another_history_is_rebuilt(tmp_path: Path) -> None:
    first, second = Store.open(tmp_path / "first"), Store.open(tmp_path / "second")
    add(first, make_indexed(ONE))
    add(first, make_indexed(TWO))
    for paper in (THREE, FOUR, ONE):
        add(second, make_indexed(paper))
    folder = tmp_path / "index"
    for store, papers in ((second, {THREE, FOUR, ONE}), (first, {ONE, TWO}), (second, {THREE, FOUR, ONE})):
        index = NativeGraphIndex.open(store, folder)
        found = index.retrieve(ask())
        assert {hit.id.partition("/")[0] for hit in found.by_vectors} == papers
        assert {hit.id.partition("/")[0] for hit in found.by_words} == papers
        index.close()
    first.close()
    second.close()


def test_the_snapshot_is_written_only_when_much_has_changed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_STALE_LEAST", 20)
    snapshot = store.folder / "index" / "vectors.snapshot"
    add(store, make_indexed(ONE, names=METHODS))
    index = NativeGraphIndex.open(store)
    assert not snapshot.exists()
    add(store, make_indexed(TWO, names=METHODS))
    add(store, make_indexed(THREE, names=METHODS))
    index.catch_up()
    written = snapshot.read_bytes()
    add(store, make_indexed(FOUR, names=METHODS))
    store.remove(ONE)
    index.catch_up()
    assert snapshot.read_bytes() == written
    again = NativeGraphIndex.open(store)
    assert rounded(again.retrieve(ask())) == rounded(index.retrieve(ask()))
    index.close()
    again.close()


@pytest.fixture
def index(store: Store) -> Iterator[NativeGraphIndex]:
    add(store, make_indexed(ONE, names=METHODS))
    index = NativeGraphIndex.open(store)
    yield index
    index.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(WORDS)
def test_no_question_breaks_the_index(index: NativeGraphIndex, text: str) -> None:
    found = index.retrieve(ask(text, limit=3))
    assert all(len(hits) <= 3 for hits in (found.by_words, found.by_vectors, found.named, found.reached))


def test_vectors_of_different_embedders_are_never_compared(store: Store) -> None:
    add(store, make_indexed(ONE), embedder="first")
    add(store, make_indexed(TWO, dimension=5), embedder="second")
    index = NativeGraphIndex.open(store, embedder="first")
    assert {hit.id.partition("/")[0] for hit in index.retrieve(ask()).by_vectors} == {ONE}
    assert {hit.id.partition("/")[0] for hit in index.retrieve(ask()).by_words} == {ONE, TWO}
    index.close()
    newest = NativeGraphIndex.open(store)
    with pytest.raises(SettingsError, match=rf"\({DIMENSION},\).*5 numbers.*'second'"):
        newest.retrieve(ask())
    newest.close()


def _texts(*texts: str) -> Searchable:
    place = Place(paper=ONE, page=1, box=Box(0, 0, 9, 9))
    chunks = tuple(
        Chunk(id=f"{ONE}/chunk-{number}", paper=ONE, text=text, elements=(f"{ONE}/passage-1",), section="", place=place)
        for number, text in enumerate(texts)
    )
    numbers, vectors = np.arange(len(texts)), np.zeros((len(texts), 1), dtype=np.float32)
    return Searchable(paper=ONE, chunks=chunks, numbers=numbers, embedder="", vectors=vectors, entities=(), edges=())


def test_over_all_of_a_large_library_the_rarer_words_count(monkeypatch: pytest.MonkeyPatch) -> None:
    index = TextIndex.in_memory()
    index.replace(
        ONE, _texts("score", "score score", "score owl", "score owl", "score owl fox", "plain"), checkpoint=Checkpoint()
    )

    def found(text: str, *papers: str) -> list[Hit]:
        return index.chunks(text, filters=Filters(papers=papers), limit=10)

    every = found("score of owl and fox")
    assert len(every) == 5
    monkeypatch.setitem(bm25.RANKED, "chunk_words", 9)
    assert found("score of owl and fox") == every
    monkeypatch.setitem(bm25.RANKED, "chunk_words", 4)
    assert found("score of owl and fox") == found("owl and fox") != every
    assert found("score of owl and fox", ONE) == every
    monkeypatch.setitem(bm25.RANKED, "chunk_words", 2)
    assert found("score of owl and fox") == found("fox")
    assert found("score of owl") == found("owl")
    assert found("score of owl and wolf")[0].score < found("score of owl")[0].score


@pytest.mark.parametrize("most_equal", [64, 1])
def test_of_texts_with_the_same_score_those_with_the_first_ids_are_found(
    monkeypatch: pytest.MonkeyPatch, most_equal: int
) -> None:
    monkeypatch.setattr(text_index, "_MOST_EQUAL", most_equal)
    index = TextIndex.in_memory()
    index.replace(ONE, _texts(*["the owl", "an owl hoots"] * 6), checkpoint=Checkpoint())
    for limit in range(14):
        found = index.chunks("owl", filters=Filters(), limit=limit)
        assert found == index.chunks("owl", filters=Filters(papers=(ONE,)), limit=limit)
        assert [hit.id for hit in found] == [hit.id for hit in sorted(found, key=lambda hit: (-hit.score, hit.id))]
        assert len(found) == min(limit, 12)


def test_words_are_counted_again_after_a_change() -> None:
    index = TextIndex.in_memory()
    for revision, texts in enumerate((("owl", "fox"), ("owl", "owl", "fox"), ("fox",)), start=1):
        index.replace(ONE, _texts(*texts), checkpoint=Checkpoint(revision=revision))
        fresh = TextIndex.in_memory()
        fresh.replace(ONE, _texts(*texts), checkpoint=Checkpoint(revision=revision))
        for _ in range(2):
            assert index.chunks("owl fox", filters=Filters(), limit=9) == fresh.chunks(
                "owl fox", filters=Filters(), limit=9
            )
