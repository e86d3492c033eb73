"""A service of the library with the example paper."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.http.requests import serve_library


@pytest.fixture(scope="module")
def address(example_library: Path) -> Iterator[str]:
    with serve_library(example_library) as address:
        yield address
