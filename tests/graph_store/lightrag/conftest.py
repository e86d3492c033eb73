"""A library of two papers as LightRAG's storages read it."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from graph_store.lightrag.vectors import TextVectors
from graph_store.lightrag.view import LibraryReader
from paperscope_core.types import content_hash
from tests.graph_store.indexed_papers import DIMENSION, EMBEDDER, PAPER_IDS, add, make_indexed, unit_vector

ONE, TWO, *_ = PAPER_IDS


def embed(texts: Sequence[str]) -> NDArray[float32]:
    return np.stack([unit_vector(int.from_bytes(content_hash(text.encode()).encode()[:4])) for text in texts])


@pytest.fixture
def store(store: Store) -> Store:
    add(store, make_indexed(ONE, names=("BERT", "F1", "Dice loss")))
    add(store, make_indexed(TWO, names=("BERT", "SST-5", "focal loss")))
    return store


@pytest.fixture
def reader(store: Store) -> LibraryReader:
    return LibraryReader(store, TextVectors(embed, embedder=EMBEDDER, dimension=DIMENSION))
