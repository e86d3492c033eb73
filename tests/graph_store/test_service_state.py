"""What services share, in a file or in the database of their library."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from graph_store import Store
from graph_store.service_state import ServiceState
from paperscope_core.locations import Location


@pytest.fixture
def states(location: Location, tmp_path: Path) -> Iterator[list[ServiceState]]:
    """Those of two services of a library in PostgreSQL, or of two processes of a service."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(ServiceState(location, folder=tmp_path))) for _ in range(2)]


def test_what_one_stores_the_other_finds(states: list[ServiceState], location: Location) -> None:
    one, other = states
    one.begin_session("token", "alice", seconds=60)
    assert (other.session_key("token"), other.session_key("other")) == ("alice", None)
    other.end_session("token")
    assert one.session_key("token") is None
    assert [state.take("caller", per_minute=2) for state in (one, other)] == [0, 0]
    assert 20 < one.take("caller", per_minute=2) <= 30
    assert one.last_stop("work") == 0
    other.stop("work")
    assert one.last_stop("work") > 0
    # It is beside the library, which has none of it.
    with closing(Store.open(location)) as store:
        assert not store.entries()


def test_only_the_oldest_sessions_of_the_same_key_end(states: list[ServiceState]) -> None:
    state, _ = states
    state.begin_session("other", "bob", seconds=1000)
    for number in range(101):
        state.begin_session(f"token {number}", "alice", seconds=2000 + number)
    found = [state.session_key(token) for token in ("other", "token 0", "token 1", "token 100")]
    assert found == ["bob", None, "alice", "alice"]


def test_a_clock_that_is_set_back_locks_nobody_out(location: Location, tmp_path: Path) -> None:
    now = 10_000.0
    with closing(ServiceState(location, folder=tmp_path, clock=lambda: now)) as state:
        assert [state.take("caller", per_minute=2) for _ in range(2)] == [0, 0]
        now -= 7200
        assert state.take("caller", per_minute=2) <= 30
        now += 30
        assert state.take("caller", per_minute=2) == 0


def test_a_temporary_file_is_deleted_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    state = ServiceState(tmp_path / "library")
    assert not list(tmp_path.iterdir())
    state.stop("work")
    assert list(tmp_path.glob("*/state.sqlite"))
    state.close()
    assert not list(tmp_path.iterdir())
