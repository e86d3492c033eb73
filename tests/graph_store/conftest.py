"""What the tests of the library on disk share."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graph_store import Store
from paperscope_core.locations import Location

ON_BOTH_ENGINES = ("sqlite", pytest.param("postgresql", marks=pytest.mark.slow))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "library")) as opened:
        yield opened


@pytest.fixture(params=ON_BOTH_ENGINES)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """Where a new library can be created, on each engine."""
    if request.param == "sqlite":
        return tmp_path / "library"
    from tests.postgresql_server import PostgresServer

    server = request.getfixturevalue("postgresql")
    assert isinstance(server, PostgresServer)
    return server.address(tmp_path)


@pytest.fixture
def stored(location: Location) -> Iterator[Store]:
    """A new library on each engine."""
    with closing(Store.open(location)) as opened:
        yield opened
