"""The file of vectors: what it keeps, what it survives, and that it is only a cache."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray

from graph_store.lightrag import vector_file
from graph_store.lightrag.vector_file import VectorFile, digest_of
from graph_store.lightrag.vectors import TextVectors
from tests.graph_store.indexed_papers import DIMENSION, EMBEDDER
from tests.graph_store.lightrag.conftest import embed


def opened(file: Path, *, embedder: str = EMBEDDER, writable: bool = True) -> VectorFile:
    return VectorFile(file, embedder=embedder, dimension=DIMENSION, writable=writable)


def add(vectors: VectorFile, *texts: str) -> None:
    vectors.add([digest_of(text) for text in texts], embed(texts))


def known(vectors: VectorFile, *texts: str) -> list[bool]:
    """Whether the file has each text, with its vector."""
    matrix, rows = vectors.find([digest_of(text) for text in texts])
    return [row >= 0 and bool((matrix[row] == embed([text])[0]).all()) for row, text in zip(rows, texts, strict=True)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index" / "lightrag-entities.vectors"


def test_what_was_added_is_found_by_another_process_too(file: Path) -> None:
    one, other = opened(file), opened(file)
    assert known(other, "a") == [False]
    add(one, "a", "b")
    assert known(other, "b", "a", "c") == [True, True, False]
    add(other, "b", "c")
    assert known(one, "a", "b", "c") == known(opened(file), "a", "b", "c") == [True] * 3
    assert file.stat().st_mode & 0o077 == 0


def test_adding_writes_only_what_is_new(file: Path) -> None:
    vectors = opened(file)
    add(vectors, *map(str, range(50)))
    before = file.read_bytes()
    add(vectors, "0", "new")
    assert file.read_bytes()[: len(before)] == before
    assert file.stat().st_size - len(before) == 16 + 4 * DIMENSION


@pytest.mark.parametrize("cut", [1, 20, 48, 49])
def test_a_record_that_is_cut_is_written_again(file: Path, cut: int) -> None:
    add(opened(file), "a", "b")
    file.write_bytes(file.read_bytes()[:-cut])
    vectors = opened(file)
    assert known(vectors, "a", "b") == [cut < 49, False]
    add(vectors, "a", "b")
    assert known(opened(file), "a", "b") == [True, True]


def test_a_damaged_vector_is_left_out(file: Path) -> None:
    add(opened(file), "a", "b")
    file.write_bytes(file.read_bytes()[: -4 * DIMENSION] + bytes(4 * DIMENSION))
    assert known(opened(file), "a", "b") == [True, False]


@pytest.mark.parametrize("content", [b"", b"x" * 10, b"x" * 1000])
def test_another_file_in_its_place_counts_as_empty_and_is_replaced(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    vectors = opened(file)
    assert known(vectors, "a") == [False]
    add(vectors, "a")
    assert known(opened(file), "a") == [True]


def test_vectors_of_another_embedder_are_not_used(file: Path) -> None:
    add(opened(file), "a")
    assert known(opened(file, embedder="another"), "a") == [False]


def test_a_deleted_file_is_made_again(file: Path) -> None:
    vectors = opened(file)
    add(vectors, "a")
    file.unlink()
    assert known(vectors, "a") == [False]
    add(vectors, "a", "b")
    assert known(opened(file), "a", "b") == [True, True]


def test_a_file_that_may_only_be_read_is_left_alone(file: Path) -> None:
    add(opened(file), "a")
    before = file.read_bytes()
    vectors = opened(file, writable=False)
    add(vectors, "a", "b")
    add(vectors, "c")
    assert known(vectors, "a", "b", "c") == [True] * 3
    assert file.read_bytes() == before


def test_a_folder_that_is_a_file_keeps_them_in_memory(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("no folder")
    vectors = opened(tmp_path / "blocked" / "lightrag-entities.vectors")
    add(vectors, "a")
    assert known(vectors, "a") == [True]


def test_the_file_is_rewritten_when_many_vectors_are_not_needed_any_more(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_file, "_STALE_LEAST", 3)
    vectors, reading = opened(file), opened(file)
    add(vectors, *"abcdef")
    mapped, rows = reading.find([digest_of("a")])
    vectors.forget_others([digest_of(text) for text in "abc"])
    assert known(vectors, *"abcdef") == [True] * 6, "three of six are not many"
    vectors.forget_others([digest_of(text) for text in "bf"])
    assert known(vectors, *"abcdef") == known(reading, *"abcdef") == [text in "bf" for text in "abcdef"]
    assert (mapped[rows[0]] == embed(["a"])[0]).all(), "what was mapped before stays"


def test_a_text_is_embedded_once_whoever_asks(tmp_path: Path) -> None:
    asked: list[str] = []

    def counting(texts: Sequence[str]) -> NDArray[float32]:
        asked.extend(texts)
        return embed(texts)

    for texts in (["a", "b", "a"], ["b", "c"]):
        one = TextVectors(counting, embedder=EMBEDDER, dimension=DIMENSION, folder=tmp_path)
        vectors, rows = one.rows("entities", texts)
        np.testing.assert_array_equal(vectors[rows], embed(texts))
    assert asked == ["a", "b", "c"]
    empty, rows = TextVectors(counting, embedder=EMBEDDER, dimension=DIMENSION).rows("entities", [])
    assert (empty.shape, rows.shape) == ((0, DIMENSION), (0,))
