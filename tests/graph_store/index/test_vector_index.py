"""Clusters of vectors find what a comparison with all vectors finds, and follow additions and removals."""

import errno
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray

from graph_store.index import clusters, vector_index
from graph_store.index.clusters import Clusters
from graph_store.index.vector_index import VectorIndex
from graph_store.reading import Checkpoint, Searchable

DIMENSION = 32
PER_PAPER = 50


def unit_rows(rng: np.random.Generator, rows: int) -> NDArray[float32]:
    """Vectors around a few topics, as those of passages are."""
    topics = np.random.default_rng(7).standard_normal((12, DIMENSION))
    found = topics[rng.integers(len(topics), size=rows)] + 0.5 * rng.standard_normal((rows, DIMENSION))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=float32)


def searchable(paper: int) -> Searchable:
    return Searchable(
        paper=f"p{paper}",
        chunks=(),
        numbers=np.arange(paper * PER_PAPER, (paper + 1) * PER_PAPER, dtype=np.int64),
        embedder="fake",
        vectors=unit_rows(np.random.default_rng(paper), PER_PAPER),
        entities=(),
        edges=(),
    )


def made(papers: range) -> VectorIndex:
    index = VectorIndex(embedder="fake")
    for paper in papers:
        index.replace(f"p{paper}", searchable(paper), checkpoint=Checkpoint(revision=paper + 1))
    return index


def found(index: VectorIndex, vector: NDArray[float32], *papers: str) -> dict[int, float]:
    return dict(index.search(vector, papers=papers, limit=10))


@pytest.fixture
def clustered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "_CLUSTERED_FROM", 600)


QUESTIONS = unit_rows(np.random.default_rng(99), 40)


def made_from(index: VectorIndex) -> int:
    """The number of vectors that the clusters were made from; 0 without clusters."""
    return index._index.made_from if isinstance(index._index, Clusters) else 0


def recall(index: VectorIndex, exact: VectorIndex) -> float:
    shares = [len(found(index, one).keys() & found(exact, one).keys()) / 10 for one in QUESTIONS]
    return float(np.mean(shares))


def test_clusters_find_what_all_vectors_do(clustered: None, monkeypatch: pytest.MonkeyPatch) -> None:
    index = made(range(20))
    with monkeypatch.context() as small:
        small.setattr(vector_index, "_CLUSTERED_FROM", 10**6)
        exact = made(range(20))
    assert made_from(index) == 600
    assert made_from(exact) == 0
    assert recall(index, exact) > 0.99
    for one in QUESTIONS[:5]:
        near, all_ = found(index, one), found(exact, one)
        assert max(abs(near[key] - all_[key]) for key in near.keys() & all_.keys()) < 0.001
        own = found(index, one, "p3", "p17")
        assert own.keys() == found(exact, one, "p3", "p17").keys()
        assert all(key // PER_PAPER in (3, 17) for key in own)
    monkeypatch.setattr(clusters, "_SEARCHED", 8)
    assert recall(index, exact) > 0.9


def test_clusters_follow_removals_and_additions(clustered: None) -> None:
    index, other = made(range(14)), made(range(14))
    assert [found(index, one) for one in QUESTIONS] == [found(other, one) for one in QUESTIONS]
    index.replace("p5", None, checkpoint=Checkpoint(revision=15))
    assert len(index) == 13 * PER_PAPER
    assert not any(key // PER_PAPER == 5 for one in QUESTIONS for key in found(index, one))
    index.replace("p5", searchable(5), checkpoint=Checkpoint(revision=16))
    assert [found(index, one) for one in QUESTIONS] == [found(other, one) for one in QUESTIONS]


def test_clusters_are_made_again_when_there_are_many_more_vectors(clustered: None) -> None:
    index = made(range(4 * 12))
    assert made_from(index) == 4 * 600
    assert sorted(index._all()[0].tolist()) == list(range(4 * 12 * PER_PAPER))
    own = found(index, searchable(30).vectors[7])
    assert next(iter(own)) == 30 * PER_PAPER + 7


@pytest.mark.parametrize("papers", [4, 14])
def test_a_snapshot_reads_back_equal(clustered: None, tmp_path: Path, papers: int) -> None:
    index = made(range(papers))
    index.save(tmp_path / "snapshot")
    read = VectorIndex.load(tmp_path / "snapshot", embedder="fake")
    assert (len(read), read.checkpoint, made_from(read)) == (len(index), index.checkpoint, made_from(index))
    assert [found(read, one) for one in QUESTIONS] == [found(index, one) for one in QUESTIONS]
    read.replace("p1", None, checkpoint=Checkpoint(revision=99))
    assert len(read) == (papers - 1) * PER_PAPER
    read.save(tmp_path / "snapshot")
    again = VectorIndex.load(tmp_path / "snapshot", embedder="fake", thorough=True)
    assert [found(again, one) for one in QUESTIONS] == [found(read, one) for one in QUESTIONS]
    read.replace("p1", searchable(1), checkpoint=Checkpoint(revision=99))
    assert [found(read, one) for one in QUESTIONS] == [found(index, one) for one in QUESTIONS]
    (largest,) = [file for file in tmp_path.iterdir() if file.stat().st_size > 9_999]
    data = largest.read_bytes()
    largest.write_bytes(data[:-100] + bytes(100))
    assert len(VectorIndex.load(tmp_path / "snapshot", embedder="fake", thorough=True)) == 0
    largest.write_bytes(b"" if papers > 10 else data[:100])
    assert len(VectorIndex.load(tmp_path / "snapshot", embedder="fake")) == 0


def test_several_processes_replace_each_others_snapshots(clustered: None, tmp_path: Path) -> None:
    made(range(14)).save(tmp_path / "snapshot")
    one, other = (VectorIndex.load(tmp_path / "snapshot", embedder="fake") for _ in range(2))
    for index in (one, other):
        index.replace("p5", None, checkpoint=Checkpoint(revision=15))
        index.replace("p14", searchable(14), checkpoint=Checkpoint(revision=16))
        index.save(tmp_path / "snapshot")
    read = VectorIndex.load(tmp_path / "snapshot", embedder="fake", thorough=True)
    assert len(read) == 14 * PER_PAPER
    assert [found(read, question) for question in QUESTIONS] == [found(one, question) for question in QUESTIONS]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_full_disk_keeps_the_older_snapshot(clustered: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(range(14)).save(tmp_path / "snapshot")
    before = set(tmp_path.iterdir())
    index = VectorIndex.load(tmp_path / "snapshot", embedder="fake")
    write = faiss.write_index
    monkeypatch.setattr(faiss, "write_index", lambda index, _file: write(index, "/dev/full"))
    with pytest.raises(OSError, match="No space left on device") as full:
        index.save(tmp_path / "snapshot")
    assert full.value.errno == errno.ENOSPC
    assert set(tmp_path.iterdir()) == before
    assert [found(index, question) for question in QUESTIONS] == [found(made(range(14)), one) for one in QUESTIONS]


def test_a_question_starts_no_threads_to_read_ahead(clustered: None, tmp_path: Path) -> None:
    made(range(14)).save(tmp_path / "snapshot")
    read: Any = VectorIndex.load(tmp_path / "snapshot", embedder="fake")._index
    lists: Any = faiss.downcast_InvertedLists(read._mapped.invlists)
    assert lists.prefetch_nthread == 0
