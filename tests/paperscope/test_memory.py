"""Embeddings that an open library caches in memory."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from paperscope.asking import _StoredIfPossible
from paperscope.library import Library
from paperscope_core.models import CachedEmbedder, FakeEmbedder, Models
from paperscope_core.models.cache import MemoryVectorCache
from paperscope_core.settings import load_settings
from query.outline import GISTS, LIMITS


class Counted(FakeEmbedder):
    """Tells what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        self.embedded.extend(texts)
        return await super().embed(texts)


class Kept:
    """A cache of these vectors, to read from only."""

    def __init__(self, vectors: Mapping[str, NDArray[float32]]) -> None:
        self._vectors = vectors

    def get_vectors(self, _embedder: str, texts: Sequence[str]) -> Mapping[str, NDArray[float32]]:
        return {text: self._vectors[text] for text in texts if text in self._vectors}

    def put_vectors(self, _embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        raise AssertionError(f"nothing is written here, {sorted(vectors)} neither")


async def test_the_least_recently_used_texts_are_dropped() -> None:
    counted = Counted()
    embedded = counted.embedded
    embedder = CachedEmbedder(counted, MemoryVectorCache(Kept({}), size=3))
    first = await embedder.embed(["a", "b", "c"])
    assert np.array_equal(await embedder.embed(["c", "a"]), first[[2, 0]])
    assert embedded == ["a", "b", "c"]
    await embedder.embed(["d"])
    await embedder.embed(["a", "c", "b"])
    assert embedded == ["a", "b", "c", "d", "b"]
    assert len(await embedder.embed(list("uvwxyz"))) == 6


async def test_texts_of_the_backing_cache_are_not_embedded() -> None:
    counted = Counted()
    kept = dict(zip("ab", await counted.embed(["a", "b"]), strict=True))
    embedder = CachedEmbedder(counted, MemoryVectorCache(Kept(kept), size=3))
    assert np.array_equal(await embedder.embed(["b", "c", "a"]), await FakeEmbedder().embed(["b", "c", "a"]))
    assert counted.embedded == ["a", "b", "c"]


@pytest.mark.slow
def test_sentences_are_embedded_when_a_question_first_needs_them_and_stored(root: Path, tmp_path: Path) -> None:
    paper, asked = root / "examples" / "paper" / "ner-report.pdf", root / "examples" / "paper" / "questions.jsonl"
    questions = [json.loads(line)["question"] for line in asked.read_text(encoding="utf-8").splitlines()]
    settings, embedded, answers = load_settings(environ={}), [], []
    for _process in range(2):
        counted = Counted()
        models = Models(embedder=counted)
        with closing(Library(store=Store.open(tmp_path), settings=settings, models=models)) as library:
            library.add(paper)
            added = len(counted.embedded)
            answers.append([library.ask(question).text for question in questions])
            embedded.append([text for text in counted.embedded[added:] if text not in questions])
    first, second = embedded
    assert len(first) > 20
    assert set(second) == {*GISTS, *LIMITS}
    assert answers[0] == answers[1]


async def test_an_answer_needs_no_library_that_can_be_written(root: Path, tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    store = Store.open(tmp_path, read_only=True)
    with closing(store):
        embedder = CachedEmbedder(FakeEmbedder(), _StoredIfPossible(store))
        assert np.array_equal(await embedder.embed(["a"]), await FakeEmbedder().embed(["a"]))
