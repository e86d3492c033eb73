"""What the tests of the library on disk share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graph_store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(tmp_path / "library")
    yield store
    store.close()
