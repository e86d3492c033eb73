"""What an open library remembers."""

from collections.abc import Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope.library.memory import MemoryVectors
from paperscope.models import CachedEmbedder, FakeEmbedder


async def test_a_sentence_is_embedded_once_and_forgotten_when_others_are_wanted_more() -> None:
    embedded: list[str] = []

    class Counted(FakeEmbedder):
        async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
            embedded.extend(texts)
            return await super().embed(texts)

    embedder = CachedEmbedder(Counted(), MemoryVectors(most=3))
    first = await embedder.embed(["a", "b", "c"])
    assert np.array_equal(await embedder.embed(["c", "a"]), first[[2, 0]])
    assert embedded == ["a", "b", "c"]
    await embedder.embed(["d"])
    await embedder.embed(["a", "c", "b"])
    assert embedded == ["a", "b", "c", "d", "b"]
    assert len(await embedder.embed(list("uvwxyz"))) == 6
